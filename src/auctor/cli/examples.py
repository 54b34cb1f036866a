"""Examples at the end of the help texts."""

EXAMPLES = {
    "fit": """\
examples:
  auctor fit loans.csv --target defaulted --drop customer_id --report
  auctor fit loans.csv --target defaulted --metric ks --group customer_id --jobs 2
  auctor fit loans.csv --target defaulted --time month --holdout 2024.csv --monotone income=-
  auctor fit --config run.toml

A config file holds the same options: table = "loans.csv", target = "defaulted", cv = 10,
drop = ["customer_id"], param = {interactions = 0}. The command line overrides the file.
""",
    "score": """\
examples:
  auctor score loans.model.json new.csv --keep customer_id --out scores.csv
  auctor score loans.model.json new.csv --keep customer_id --reasons 4 --out scores.csv
  cat new.csv | auctor score loans.model.json - > scores.csv
""",
    "evaluate": """\
examples:
  auctor evaluate loans.model.json unseen.parquet --target defaulted
  auctor evaluate loans.model.json unseen.parquet --target defaulted --at fpr=0.1 --at budget=500
  auctor evaluate loans.model.json unseen.parquet --target defaulted --by region,age
  auctor evaluate loans.model.json unseen.csv --target defaulted --by region --compare pairs
""",
    "compare": """\
examples:
  auctor compare loans.csv --target defaulted
  auctor compare loans.csv --target defaulted --learner rankboost --learner lightgbm --cv 10
""",
    "report": """\
examples:
  auctor report loans.model.json unseen.csv --target defaulted --out unseen.html
  auctor report loans.model.json unseen.csv --target defaulted --by region --time month
""",
    "monitor": """\
examples:
  auctor monitor loans.model.json march.csv
  auctor monitor loans.model.json 2025.csv --target defaulted --time date --report
  auctor monitor loans.model.json march.csv --fail-on psi=0.25,missing=0.05 --quiet --json

Exit code 3 means that a limit of --fail-on is broken; the reasons are printed to stderr.
""",
    "show": """\
example:
  auctor show loans.model.json
""",
    "explain": """\
examples:
  auctor explain loans.model.json                        print the model
  auctor explain loans.model.json new.csv --row 1        explain the score of the first row
""",
    "export": """\
examples:
  auctor export loans.model.json --to sql --dialect postgres --table customers --keep customer_id
  auctor export loans.model.json --to python --out score_loans.py
  auctor export loans.model.json --to scorecard --max-bins 5 --out card.html
  auctor export loans.model.json --to scorecard --rows loans.csv --target defaulted --out card.json
""",
    "learners": """\
example:
  auctor learners
""",
}
OVERVIEW = """\
examples:
  auctor fit loans.csv --target defaulted --report     fit, cross-validate, write an HTML report
  auctor score loans.model.json new.csv                print a score for each row of a table
  auctor evaluate loans.model.json unseen.csv --target defaulted

Tables are CSV (.csv, .csv.gz, .tsv, .txt), Parquet (.parquet), Feather (.feather, .arrow) or the
first sheet of an Excel file (.xlsx, with pip install 'auctor[excel]'), recognised by the extension.
Exit codes: 0 success, 1 error, 2 wrong usage, 3 a limit of monitor --fail-on is broken,
130 interrupted.
"""
