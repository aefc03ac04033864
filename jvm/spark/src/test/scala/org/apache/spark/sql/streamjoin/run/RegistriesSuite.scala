package org.apache.spark.sql.streamjoin.run

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** The global state of a process: mutable values of singletons. */
class RegistriesSuite extends AnyFunSuite {

  private val Singleton =
    """(?ms)^(?:private(?:\[\w+])? )?(?:case )?object (\w+)[^\n]*\{\n(.*?)^\}""".r

  /** A variable or a value of a mutable type that is a member of the singleton itself. */
  private val Changing =
    """(?m)^  (?:@volatile )?(?:private(?:\[\w+])? )?(?:(?:lazy )?val (\w+)[^\n]*(?:TrieMap|ConcurrentHashMap|WeakHashMap|LinkedHashMap|newKeySet|newSetFromMap|mutable\.|Atomic[A-Z]|CacheBuilder|SoftReference|ThreadLocal|MemoryPool)|var (\w+))""".r

  private def files: Seq[Path] = Seq("core", "spark").flatMap { project =>
    val found = Files.walk(Paths.get("..", project, "src", "main"))
    try found.iterator.asScala.filter(_.toString.endsWith(".scala")).toList
    finally found.close()
  }

  test("the sources have exactly four singletons with mutable state") {
    val found = for {
      file <- files
      singleton <- Singleton.findAllMatchIn(Files.readString(file))
      value <- Changing.findAllMatchIn(singleton.group(2))
    } yield s"${singleton.group(1)}.${Option(value.group(1)).getOrElse(value.group(2))}"
    assert(
      found.toSet == Set(
        "LocalDisk.pool",
        "OncePerApplication.done",
        "ResidentState.holders",
        "RunScope.scopes"
      )
    )
  }
}
