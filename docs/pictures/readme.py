"""Makes the README's picture: the top of the demo's report page, as Chromium shows it."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "examples" / "01_first_model.py"
NAMES = ("chromium", "chromium-browser", "google-chrome")


def main() -> None:
    browser = next((found for name in NAMES if (found := shutil.which(name))), None)
    if browser is None:
        raise SystemExit("no Chromium was found; install it to make the picture")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(DEMO)], cwd=folder, env=os.environ, check=True)
        page = Path(folder) / "demo-output" / "loans.report.html"
        picture = Path(folder) / "page.png"
        size = ("--window-size=1200,1500", "--hide-scrollbars", "--force-device-scale-factor=1")
        command = [browser, "--headless", "--no-sandbox", *size, f"--screenshot={picture}"]
        subprocess.run([*command, page.as_uri()], check=True)
        shutil.copyfile(picture, Path(__file__).with_suffix(".png"))


if __name__ == "__main__":
    main()
