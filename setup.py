"""What pyproject.toml cannot say: the wheel holds figures/*.svg as tx_helpers/figures/*.svg, an editable one data."""

from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py


class BuildWithDrawings(build_py):
    """Copies the drawings beside the modules; an editable install finds them in the checkout instead."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            self.mkpath(str(Path(self.build_lib, "tx_helpers", "figures")))
            for drawing in self.drawings():
                self.copy_file(str(drawing), str(Path(self.build_lib, "tx_helpers", "figures", drawing.name)))

    def get_source_files(self) -> list[str]:
        """What a source distribution must hold as well."""
        return [*super().get_source_files(), *map(str, self.drawings())]

    @staticmethod
    def drawings() -> list[Path]:
        return sorted(Path("figures").glob("*.svg"))


class Course(Distribution):
    """An editable wheel asks for `has_data`, which no distribution has, and so leaves Jupyter's file out."""

    has_data = Distribution.has_data_files


setup(cmdclass={"build_py": BuildWithDrawings}, distclass=Course)
