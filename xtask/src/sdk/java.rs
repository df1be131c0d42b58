//! The client for Java, on the HTTP client of the JDK, and its jar.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Shell, cmd};

use super::packages::{self, Trial};
use super::{copy, openapi_generator};
use crate::service::Demo;
use crate::tools::python::SDK;

/// Off are: "processing", since javac would name each annotation that nobody processes, and "deprecation", since the
/// generator's Jackson is newer than the one that its client is written for.
const LINT: [&str; 2] = ["-Xlint:all,-processing,-deprecation", "-Werror"];

pub fn generate(shell: &Shell, folder: &Path) -> anyhow::Result<()> {
    let packages = "invokerPackage=com.lendpay.partner,apiPackage=com.lendpay.partner.api,\
                    modelPackage=com.lendpay.partner.model,groupId=com.lendpay,artifactId=lendpay-partner";
    let options = format!("library=native,openApiNullable=false,hideGenerationTimestamp=true,{packages}");
    openapi_generator(shell, "java", &options, folder)
}

pub fn test(shell: &Shell, folder: &Path, demo: &Demo) -> anyhow::Result<()> {
    copy(shell, "java", &folder.join("program"))?;
    let jar = generator(shell)?;
    let _there = shell.push_dir(folder);
    let sources = ["src/main/java", "program/Main.java", "program/javax"];
    shell.write_file("sources.txt", cmd!(shell, "find {sources...} -name *.java").read()?)?;
    cmd!(shell, "javac {LINT...} -d classes -classpath {jar} @sources.txt").run()?;
    let path = std::env::join_paths([jar, "classes".into()])?;
    Ok(cmd!(shell, "java -classpath {path} Main").envs(demo.to_try()?).run()?)
}

/// Jackson comes from the generator, which is a jar with everything that it needs in it.
fn generator(shell: &Shell) -> anyhow::Result<PathBuf> {
    let python = SDK.find_or_install(shell)?.join("python");
    let script = "import openapi_generator_cli as g, os; print(os.path.join(os.path.dirname(g.__file__), 'openapi-generator.jar'))";
    Ok(PathBuf::from(cmd!(shell, "{python} -c {script}").read()?))
}

/// Makes the jar, with the POM in it and beside it.
pub fn make_package(shell: &Shell, folder: &Path, version: &str) -> anyhow::Result<PathBuf> {
    let (root, jar, classes) = (shell.current_dir(), generator(shell)?, folder.join("classes"));
    let theirs = shell.read_file("target/sdk/java/pom.xml")?;
    let jackson = theirs.split("<jackson-version>").nth(1).and_then(|rest| rest.split('<').next());
    let pom = shell.read_file(folder.join("pom.xml"))?;
    let pom = pom.replace("@JACKSON@", jackson.context("the generated POM names no version of Jackson")?);
    let file = root.join(packages::FOLDER).join(format!("lendpay-partner-{version}.jar"));
    shell.write_file(file.with_extension("pom"), &pom)?;
    shell.write_file(classes.join("META-INF/maven/com.lendpay/lendpay-partner/pom.xml"), &pom)?;
    let sources = [root.join("target/sdk/java/src/main/java"), root.join("xtask/sdk/java/javax"), folder.join("com")];
    let _there = shell.push_dir(folder);
    cmd!(shell, "cp README.md LICENSE-APACHE LICENSE-MIT classes/META-INF").run()?;
    shell.write_file("sources.txt", cmd!(shell, "find {sources...} -name *.java").read()?)?;
    cmd!(shell, "javac {LINT...} --release 11 -d classes -classpath {jar} @sources.txt").run()?;
    // Only the compiler needs it.
    shell.remove_path("classes/javax")?;
    cmd!(shell, "jar --create --file {file} -C classes .").run()?;
    Ok(file)
}

/// With the generator's Jackson.
pub fn test_package(shell: &Shell, file: &Path, project: &Path, trial: &Trial<'_>) -> anyhow::Result<()> {
    copy(shell, "java/project", project)?;
    let path = std::env::join_paths([file.to_owned(), generator(shell)?, "classes".into()])?;
    let tried = trial.to_try(shell, project, "package-java")?;
    let _there = shell.push_dir(project);
    // Before there are classes, their folder would be warned of.
    shell.create_dir("classes")?;
    cmd!(shell, "javac {LINT...} -d classes -classpath {path} Main.java").run()?;
    Ok(cmd!(shell, "java -classpath {path} Main").envs(tried).run()?)
}
