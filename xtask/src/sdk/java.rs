//! The client for Java, on the HTTP client of the JDK.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

use super::{copy, openapi_generator};
use crate::service::Demo;
use crate::tools::python::SDK;

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let packages = "invokerPackage=com.lendpay.partner,apiPackage=com.lendpay.partner.api,\
                    modelPackage=com.lendpay.partner.model,groupId=com.lendpay,artifactId=lendpay-partner";
    let options = format!("library=native,openApiNullable=false,hideGenerationTimestamp=true,{packages}");
    openapi_generator(shell, "java", &options, folder)
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    copy(shell, "java", &folder.join("program"))?;
    let python = SDK.find_or_install(shell)?.join("python");
    // Jackson comes from the generator, which is a jar with everything that it needs in it.
    let script = "import openapi_generator_cli as g, os; print(os.path.join(os.path.dirname(g.__file__), 'openapi-generator.jar'))";
    let jar = PathBuf::from(cmd!(shell, "{python} -c {script}").read()?);
    let _there = shell.push_dir(folder);
    shell.write_file("sources.txt", cmd!(shell, "find src/main/java program -name *.java").read()?)?;
    // Off are: "processing", since javac would name each annotation that nobody processes, and "deprecation", since the
    // generator's Jackson is newer than the one that its client is written for.
    let lint = "-Xlint:all,-processing,-deprecation";
    cmd!(shell, "javac {lint} -Werror -d classes -classpath {jar} @sources.txt").run()?;
    let mut path = jar.into_os_string();
    path.push(":classes");
    Ok(cmd!(shell, "java -classpath {path} Main").envs(demo.to_try()?).run()?)
}
