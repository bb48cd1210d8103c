"""Conan 2: conan create cmake/packages/conan. Takes the sources that it stands among."""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain
from conan.tools.files import copy, load

TOP = os.path.join("..", "..", "..")


class Heist(ConanFile):
    name = "heist"
    description = "Work-stealing task graphs that know the machine"
    license = "Apache-2.0"
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    requires = "hwloc/[>=2.9]", "boost/[>=1.74]", "fmt/[>=8]"
    tool_requires = "pkgconf/[>=2.0]"

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, TOP, "CMakeLists.txt"))
        self.version = re.search(r"project\(heist VERSION ([0-9.]+)", text)[1]

    def export_sources(self):
        top = os.path.join(self.recipe_folder, TOP)
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "include/*"):
            copy(self, pattern, src=top, dst=self.export_sources_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "EXAMPLES", "BENCHMARKS"):
            toolchain.cache_variables[f"HEIST_{part}"] = False
        toolchain.cache_variables["HEIST_INSTALL"] = True
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()
        copy(self, "LICENSE", src=self.source_folder, dst=os.path.join(self.package_folder, "licenses"))

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        self.cpp_info.requires = ["hwloc::hwloc", "boost::context", "fmt::fmt"]
        self.cpp_info.set_property("cmake_file_name", "heist")
        self.cpp_info.set_property("cmake_target_name", "heist::heist")
        self.cpp_info.set_property("pkg_config_name", "heist")
        self.cpp_info.system_libs = ["pthread", "dl"]
