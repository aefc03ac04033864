package org.apache.spark.sql.streamjoin.run

import java.nio.file.{Files, Path, Paths}

import scala.jdk.CollectionConverters._

import org.scalatest.funsuite.AnyFunSuite

/** What a process keeps outside of objects that somebody owns: values of singletons that change. */
class RegistriesSuite extends AnyFunSuite {

  private val Singleton =
    """(?ms)^(?:private(?:\[\w+])? )?(?:case )?object (\w+)[^\n]*\{\n(.*?)^\}""".r

  /** At the level of the singleton itself, a variable or a value of a type that changes. */
  private val Changing =
    """(?m)^  (?:@volatile )?(?:private(?:\[\w+])? )?(?:(?:lazy )?val (\w+)[^\n]*(?:TrieMap|ConcurrentHashMap|WeakHashMap|LinkedHashMap|newKeySet|newSetFromMap|mutable\.|Atomic[A-Z]|CacheBuilder|SoftReference|ThreadLocal|MemoryPool)|var (\w+))""".r

  private def files: Seq[Path] = Seq("core", "spark").flatMap { project =>
    val found = Files.walk(Paths.get("..", project, "src", "main"))
    try found.iterator.asScala.filter(_.toString.endsWith(".scala")).toList
    finally found.close()
  }

  test("a process has four registries") {
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
