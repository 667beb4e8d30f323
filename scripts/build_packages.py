"""Builds what is installed: wheel and sdist of seatrial, the wheel of the compiled kernel for this platform, an SBOM.

`python scripts/build_packages.py [FOLDER]` writes into dist/ or FOLDER. The kernel needs cargo; without it
the kernel is left out, which is said. Wheels of other platforms are built by .github/workflows/release.yml.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(folder: Path) -> list[Path]:
    """Build every package; their files."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "build", "--outdir", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    if shutil.which("cargo"):
        subprocess.run([*command, "--wheel", str(ROOT / "kernel")], check=True, stdout=subprocess.DEVNULL)
    else:
        print("SKIPPED: seatrial-kernel needs cargo; no cargo on PATH", file=sys.stderr)
    (wheel,) = folder.glob("seatrial-*.whl")
    write_bill(folder, wheel.name.split("-")[1])
    return sorted(folder.glob("seatrial*"))


def write_bill(folder: Path, version: str) -> None:
    """The packages that seatrial needs, at the versions and hashes of requirements.lock, as CycloneDX."""
    programs = Path(sys.executable).parent
    compile_needed = [str(programs / "uv"), "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
    needed = subprocess.run(
        [*compile_needed, "--generate-hashes", "--constraint", "requirements.lock", "pyproject.toml"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE,
    ).stdout  # fmt: skip
    options = ["--pyproject", "pyproject.toml", "--short-PURLs", "--output-reproducible"]
    command = [sys.executable, "-W", "ignore::UserWarning", "-m", "cyclonedx_py", "requirements", "-", *options]
    made = subprocess.run(command, cwd=ROOT, check=True, input=needed, stdout=subprocess.PIPE).stdout
    bill = json.loads(made)
    bill["metadata"]["component"]["version"] = version  # pyproject.toml leaves it to the source
    (folder / f"seatrial-{version}.cdx.json").write_text(json.dumps(bill, indent=2) + "\n")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist"
    for path in build(target):
        print(f"{path} ({path.stat().st_size / 1e6:.1f} MB)")
