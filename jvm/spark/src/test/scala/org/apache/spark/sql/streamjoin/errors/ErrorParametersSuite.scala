package org.apache.spark.sql.streamjoin.errors

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** Each place that makes an error gives the parameters of the error's text, and no others. */
class ErrorParametersSuite extends AnyFunSuite {

  private def parameters(condition: String): Set[String] =
    "<(\\w+)>".r.findAllMatchIn(StreamJoinConditions.template(condition)).map(_.group(1)).toSet

  private val sources: Seq[Path] = {
    val found = Files.walk(Paths.get("src", "main"))
    try found.iterator.asScala.filter(_.toString.endsWith(".scala")).toList
    finally found.close()
  }

  /** A call whose first argument is the name of a condition, without its class. */
  private case class Call(subClass: String, text: String) {

    def names: Set[String] = "\"(\\w+)\"\\s*->".r.findAllMatchIn(text).map(_.group(1)).toSet
  }

  private val calls: Seq[Call] = sources.flatMap { path =>
    // a quotation mark that is a character would look like the begin of a string
    val source = Files.readString(path).replace("'\"'", "' '")
    val named = "\\(\\s*\"(?:STREAM_JOIN\\.)?([A-Z][A-Z_]+)\",".r
    named.findAllMatchIn(source).map(m => Call(m.group(1), upToClosing(source, m.start)))
  }

  private def upToClosing(source: String, opening: Int): String = {
    var (depth, inString, at) = (0, false, opening)
    while (at == opening || depth > 0) {
      source(at) match {
        case '\\' if inString => at += 1
        case '"'              => inString = !inString
        case '(' if !inString => depth += 1
        case ')' if !inString => depth -= 1
        case _                =>
      }
      at += 1
    }
    source.substring(opening, at)
  }

  /** `StateErrors.incompatibleCheckpoint` makes this one, and compares with its name. */
  private val byFunction = Set("STREAM_JOIN.INCOMPATIBLE_CHECKPOINT")

  private val writing = Seq("STREAM_JOIN_REWRITE.", "STREAM_JOIN_WARM_START.")

  for (condition <- ErrorConditions.all.filterNot(byFunction)) test(s"parameters of $condition") {
    val subClass = condition.split('.').last
    // the classes that refuse to write a checkpoint add its location
    val added = if (writing.exists(condition.startsWith)) Set("location") else Set.empty[String]
    // another class may have a condition of the same name
    val others = ErrorConditions.all.filter(c => c != condition && c.endsWith(s".$subClass"))
    val here = calls.filter(_.subClass == subClass).map(_.names ++ added)
      .filterNot(names => others.map(parameters).contains(names))
    assert(here.nonEmpty)
    for (names <- here) {
      assert(names == parameters(condition))
      val text = StreamJoinConditions.message(condition, names.map(p => p -> s"the $p").toMap)
      for (parameter <- names) assert(text.contains(s"the $parameter"))
    }
  }
}
