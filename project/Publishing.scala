import scala.xml.{Elem, Node, NodeSeq}
import scala.xml.transform.{RewriteRule, RuleTransformer}

import sbt._
import sbt.Keys._

/**
 * What Maven Central asks of an artifact. `spark/publish` writes to `target/release/maven`; the upload is
 * for people. Where the repository is, only a release knows: `STREAMJOIN_HOME_PAGE`.
 */
object Publishing {
  private val homePage =
    sys.env.get("STREAMJOIN_HOME_PAGE").filter(_.nonEmpty).map(_.stripSuffix("/"))

  val everywhere: Seq[Setting[_]] = Seq(
    organization := "io.streamjoin",
    organizationName := "The streamjoin contributors",
    startYear := Some(2026),
    licenses := Seq("Apache-2.0" -> url("https://www.apache.org/licenses/LICENSE-2.0.txt")),
    developers := homePage.toList.map(page =>
      Developer("streamjoin", "The streamjoin contributors", "", url(page))
    ),
    homepage := homePage.map(url(_)),
    scmInfo := homePage.map(page => ScmInfo(url(page), s"scm:git:$page.git"))
  )

  val nowhere: Seq[Setting[_]] = Seq(publish / skip := true)

  /** One jar for both projects: `core` is in it, and no dependency of it. */
  def withInside(core: Project): Seq[Setting[_]] = Seq(
    description := "Stream-to-stream joins with a watermark per column for Spark Structured Streaming",
    publishMavenStyle := true,
    pomIncludeRepository := (_ => false),
    publishTo := Some(
      MavenCache("release", (ThisBuild / baseDirectory).value / "target" / "release" / "maven")
    ),
    Compile / packageBin / mappings ++=
      (core / Compile / packageBin / mappings).value ++ legal.value,
    Compile / packageSrc / mappings ++=
      (core / Compile / packageSrc / mappings).value ++ legal.value,
    Compile / packageDoc / mappings ++= legal.value,
    Compile / doc / sources ++= (core / Compile / sources).value,
    // a link to a private name is no reason to have no documentation
    Compile / doc / scalacOptions -= "-Werror",
    pomPostProcess := dependenciesOfUsers
  )

  private def legal = Def.task {
    Seq("LICENSE", "NOTICE").map(name =>
      (ThisBuild / baseDirectory).value / name -> s"META-INF/$name"
    )
  }

  /** Without those of tests, and without what the jar contains. */
  private val dependenciesOfUsers: Node => Node = pom =>
    new RuleTransformer(new RewriteRule {
      override def transform(node: Node): NodeSeq = node match {
        case e: Elem if e.label == "dependency" && ours(e) =>
          NodeSeq.Empty
        case other => other
      }
    }).transform(pom).head

  private def ours(dependency: Elem): Boolean =
    (dependency \ "scope").text == "test" ||
      (dependency \ "artifactId").text.startsWith("streamjoin-core")
}
