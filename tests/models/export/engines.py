"""Engines that run exports: each is given a model and a table, and returns what it computes.

An engine has one method ``run(model, table)`` that returns a list of `Output`, one for each row of
the table in order, and ``refuses_infinity``: whether it raises an error for infinite numbers. It is
all that a new export has to add to be part of the tests.
"""

import json
import math
import os
import shutil
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from models.export.onnx_session import run_rows

_SQL_TYPES = {
    "double": ("DOUBLE", "REAL", "double precision", "DOUBLE"),
    "float": ("FLOAT", "REAL", "real", "FLOAT"),
    "int64": ("BIGINT", "INTEGER", "bigint", "BIGINT"),
    "bool": ("BOOLEAN", "INTEGER", "boolean", "BOOLEAN"),
    "string": ("VARCHAR", "TEXT", "text", "TEXT"),
}


class NotInstalledError(Exception):
    """A program that an engine needs is not on this machine."""


class Output(NamedTuple):
    """What an engine says of a row; an engine without contributions has None there."""

    score: float
    probability: float
    label: Any
    contributions: dict[str, float] | None = None


def booleans_of(table):
    return [name for name in table.column_names if table.schema.field(name).type == pa.bool_()]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def create_table(table, column):
    """The statement that creates the table; the first column is the number of the row."""
    columns = [
        f"{quoted(name)} {_SQL_TYPES[str(table.schema.field(name).type)][column]}"
        for name in table.column_names
    ]
    return f"CREATE TABLE data (auctor_row INTEGER, {', '.join(columns)})"


class Python:
    name = "python"
    refuses_infinity = True

    def run(self, model, table):
        module: dict[str, Any] = {}
        exec(model.to_python(), module)
        results = [module["score_row"](row) for row in table.to_pylist()]
        names = ("score", "probability", "label", "contributions")
        return [Output(*(result[name] for name in names)) for result in results]


class Node:
    """One process of node for all models."""

    name = "node"
    refuses_infinity = True
    _LOOP = """
    require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { code, columns, rows } = JSON.parse(line), module = {};
      new Function("module", code)(module);
      const read = (value) => (value && value.number ? Number(value.number) : value);
      const score = (row) => module.exports.scoreRow(
        new Map(columns.map((name, j) => [name, read(row[j])])));
      let results;
      try { results = rows.map(score); } catch (error) { results = { error: error.message }; }
      console.log(JSON.stringify(results));
    });
    """

    def __init__(self):
        path = shutil.which("node")
        if path is None:
            raise NotInstalledError("no node on the path: install nodejs to run to_js")
        self._process = subprocess.Popen(
            [path, "-e", self._LOOP], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, model, table):
        columns = [table.column(name).to_pylist() for name in table.column_names]
        rows = [list(map(_json_value, row)) for row in zip(*columns, strict=True)]
        request = {"code": model.to_js(), "columns": table.column_names, "rows": rows}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        results = json.loads(self._process.stdout.readline())
        if "error" in results:
            raise ValueError(results["error"])
        return [
            Output(
                float(r["score"]),  # JSON writes large ones as whole numbers
                r["probability"],
                r["label"],
                None
                if r["contributions"] is None
                else {term["name"]: term["adds"] for term in r["contributions"]},
            )
            for r in results
        ]

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


class DuckDB:
    name = "duckdb"
    refuses_infinity = False

    def __init__(self):
        self._connection = duckdb.connect(config={"threads": 1})

    def run(self, model, table):
        self._connection.execute("DROP TABLE IF EXISTS data")
        self._connection.execute(create_table(table, 0))
        numbered = table.add_column(0, "auctor_row", pa.array(range(len(table)), pa.int32()))
        self._connection.register("numbered", numbered)
        self._connection.execute("INSERT INTO data SELECT * FROM numbered")
        query = model.to_sql("duckdb", keep=["auctor_row"], booleans=booleans_of(table))
        rows = self._connection.execute(f"{query} ORDER BY auctor_row").fetchall()
        return [Output(*row[1:]) for row in rows]

    def close(self):
        self._connection.close()


class SQLite:
    name = "sqlite"
    refuses_infinity = False

    def __init__(self):
        self._connection = sqlite3.connect(":memory:")

    def run(self, model, table):
        self._connection.execute("DROP TABLE IF EXISTS data")
        self._connection.execute(create_table(table, 1))
        columns = [table.column(name).to_pylist() for name in table.column_names]
        marks = ", ".join("?" * (1 + len(columns)))
        rows = zip(range(len(table)), *columns, strict=True)
        self._connection.executemany(f"INSERT INTO data VALUES ({marks})", rows)
        query = model.to_sql("sqlite", keep=["auctor_row"])
        found = self._connection.execute(f"{query} ORDER BY auctor_row").fetchall()
        return [Output(*row[1:]) for row in found]

    def close(self):
        self._connection.close()


class Postgres:
    """A server of its own on a socket in a temporary folder, and one session of psql."""

    name = "postgres"
    refuses_infinity = False

    def __init__(self):
        binaries = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
        folder = next((p for p in reversed(binaries) if (p / "initdb").exists()), None)
        if folder is None and shutil.which("initdb"):
            folder = Path(shutil.which("initdb")).parent
        if folder is None or not shutil.which("psql"):
            raise NotInstalledError("no PostgreSQL server: install postgresql to run to_sql in it")
        self._folder = tempfile.mkdtemp(prefix="auctor-pg-")
        self._data = f"{self._folder}/data"
        # The server refuses to run as root.
        self._user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self._user:
            shutil.chown(self._folder, "postgres", "postgres")
        self._call(
            f"{folder}/initdb", "-D", self._data, "-U", "auctor", "--auth=trust", "-E", "UTF8",
            "--locale=C", "--no-sync",
        )  # fmt: skip
        options = (
            f"-k {self._folder} -c listen_addresses='' -c fsync=off -c shared_buffers=16MB "
            "-c max_connections=5 -c autovacuum=off -c jit=off"
        )
        self._control = f"{folder}/pg_ctl"
        self._call(
            self._control, "-D", self._data, "-o", options, "-l", f"{self._folder}/log", "-w",
            "start",
        )  # fmt: skip
        self._psql = subprocess.Popen(
            ["psql", "-h", self._folder, "-U", "auctor", "-d", "postgres", "-qAtX"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )

    def _call(self, *command):
        # Not captured by a pipe, which the server would keep open.
        subprocess.run(
            [*self._user, *command], check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=60
        )

    def _execute(self, *statements):
        """The lines that psql answers."""
        for statement in statements:
            self._psql.stdin.write(statement + ";\n")
        self._psql.stdin.write("\\echo auctor-end\n")
        self._psql.stdin.flush()
        lines = []
        while (line := self._psql.stdout.readline()) not in ("auctor-end\n", ""):
            lines.append(line.rstrip("\n"))
        assert not any(line.startswith("ERROR") for line in lines), lines[:3]
        return lines

    def run(self, model, table):
        names = table.column_names
        columns = [
            [_postgres_value(v, table.schema.field(name).type) for v in table.column(name)]
            for name in names
        ]
        rows = ", ".join(
            f"({k}, {', '.join(row)})" for k, row in enumerate(zip(*columns, strict=True))
        )
        query = model.to_sql("postgres", keep=["auctor_row"], booleans=booleans_of(table))
        answer = self._execute(
            "DROP TABLE IF EXISTS data",
            create_table(table, 2),
            f"INSERT INTO data VALUES {rows}",
            f"SELECT to_json(result) FROM ({query} ORDER BY auctor_row) AS result",
        )
        results = [json.loads(line) for line in answer if line.startswith("{")]
        assert len(results) == len(table), answer[:3]
        return [Output(r["score"], r["probability"], r["label"]) for r in results]

    def close(self):
        self._psql.stdin.close()
        self._psql.wait(timeout=10)
        self._psql.stdout.close()
        self._call(self._control, "-D", self._data, "-m", "immediate", "stop")
        shutil.rmtree(self._folder)


class MariaDB:
    """A server of its own on a socket in a temporary folder, without a network."""

    name = "mariadb"
    refuses_infinity = False

    def __init__(self):
        programs = ("mariadbd", "mariadb-install-db", "mariadb")
        path = os.environ["PATH"] + ":/usr/sbin"
        server, install, client = (shutil.which(program, path=path) for program in programs)
        if not (server and install and client):
            raise NotInstalledError("no MariaDB: install mariadb-server to run to_sql in it")
        self._folder = tempfile.mkdtemp(prefix="auctor-my-")
        data, socket = f"{self._folder}/data", f"{self._folder}/socket"
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        shared = [f"--datadir={data}"]
        if os.geteuid() == 0:
            shared.append("--user=root")
        subprocess.run(
            [install, "--no-defaults", *shared, "--auth-root-authentication-method=normal"],
            check=True, timeout=120, **quiet,
        )  # fmt: skip
        self._server = subprocess.Popen(
            [server, "--no-defaults", *shared, f"--socket={socket}", "--skip-networking",
             f"--pid-file={self._folder}/pid", "--innodb-buffer-pool-size=32M",
             "--max-allowed-packet=64M"],
            **quiet,
        )  # fmt: skip
        self._client = [client, "--no-defaults", f"--socket={socket}", "-uroot", "-NBr",
                        "--default-character-set=utf8mb4", "--max-allowed-packet=64M"]  # fmt: skip
        for _ in range(600):
            if subprocess.run([*self._client, "-e", "SELECT 1"], **quiet).returncode == 0:
                break
            time.sleep(0.1)
        self._execute("CREATE DATABASE auctor CHARACTER SET utf8mb4")

    def _execute(self, *statements):
        done = subprocess.run(
            self._client, input=";\n".join(statements), capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr[:300]
        return done.stdout.splitlines()

    def run(self, model, table):
        columns = [[_mysql_value(v) for v in table.column(name)] for name in table.column_names]
        rows = ", ".join(
            f"({k}, {', '.join(row)})" for k, row in enumerate(zip(*columns, strict=True))
        )
        create = create_table(table, 3)
        query = model.to_sql("mysql", keep=["auctor_row"], booleans=booleans_of(table))
        lines = self._execute(
            "USE auctor",
            "DROP TABLE IF EXISTS data",
            "SET sql_mode = 'ANSI_QUOTES'",  # the names of create_table
            create,
            "SET sql_mode = DEFAULT",
            f"INSERT INTO data VALUES {rows}",
            f"{query} ORDER BY auctor_row",
        )
        kind = type(model.classes[0])
        read = (lambda text: bool(int(text))) if kind is bool else kind
        results = [line.split("\t") for line in lines]
        return [Output(float(score), float(p), read(label)) for _, score, p, label in results]

    def close(self):
        self._server.terminate()
        self._server.wait(timeout=60)
        shutil.rmtree(self._folder)


class OnnxRuntime:
    name = "onnxruntime"
    refuses_infinity = False

    def run(self, model, table):
        results = run_rows(model.to_onnx(), table.to_pylist())
        return [Output(*row) for row in zip(*(out.tolist() for out in results), strict=True)]


def _json_value(value):
    """JSON has no infinite numbers and no NaN."""
    if not isinstance(value, float) or math.isfinite(value):
        return value
    return {"number": {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")}


def _mysql_value(value):
    """A literal; MariaDB has no NaN."""
    plain = value.as_py()
    if plain is None or plain != plain:
        return "NULL"
    if isinstance(plain, str):
        return f"CONVERT(X'{plain.encode().hex()}' USING utf8mb4)"
    return str(plain) if isinstance(plain, int) else f"{plain!r}"


def _postgres_value(value, kind):
    plain = value.as_py()
    if plain is None:
        return "NULL"
    if isinstance(plain, str):
        return "'" + plain.replace("'", "''") + "'"
    if isinstance(plain, bool):
        return str(plain)
    if kind == pa.float32():
        # A value that psql reads as float4 directly: converting from float8 could round twice.
        return f"float4 '{plain!r}'"
    return f"float8 '{plain!r}'" if isinstance(plain, float) else str(plain)


ENGINES = (Python, Node, DuckDB, SQLite, Postgres, OnnxRuntime)
