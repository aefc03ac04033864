package org.apache.spark.sql.streamjoin.checkpoint.segment

import scala.annotation.tailrec
import scala.collection.mutable
import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

class MergeRuleSuite extends AnyFunSuite {

  private val rule = new MergeRule(fewest = 10)

  /** The files of a state to which each version adds one, and the bytes that merges write. */
  private final class Files(wholeBytes: Long, changeBytes: Long, begun: Long = 2) {
    private val bytes = mutable.Map.empty[StateFile, Long]
    var files: List[StateFile] = List(StateFile(begun, "first", 0))
    bytes(files.head) = wholeBytes
    var merged = 0L
    var version = begun

    def change(): Unit = {
      version += 1
      files ::= StateFile.change(version, "id")
      bytes(files.head) = changeBytes
    }

    @tailrec
    def maintain(): Unit = {
      val some = rule.next(files, bytes)
      if (some.length > 1) {
        assert(files.containsSlice(some))
        val whole = some.last == files.last
        val one = some.head.copy(from = if (whole) 0 else some.last.from)
        // rows are replaced, so a whole keeps its size
        bytes(one) = if (whole) wholeBytes else some.map(bytes).sum
        merged += bytes(one)
        files = files.takeWhile(_ != some.head) ++ (one :: files.dropWhile(_ != some.last).drop(1))
        maintain()
      }
    }
  }

  /** The version at which the first whole ends, and the largest number of files. */
  private def wholes(atRoundVersion: Int, elsewhere: Int): Seq[(Long, Int)] =
    Seq(1000L -> atRoundVersion, 2L -> elsewhere)

  test("a large state with few changes is not rewritten because of many versions") {
    for ((begun, files) <- wholes(30, 40)) {
      val state = new Files(wholeBytes = 26000000, changeBytes = 1000, begun)
      for (n <- 1 to 300) {
        state.change()
        if (n % 7 == 0) state.maintain()
      }
      assert(state.merged < 3 * 300 * 1000)
      assert(state.files.length <= files)
    }
  }

  test(
    "merges write at most five times the changes and keep few files, over 5,000 versions"
  ) {
    for {
      (begun, files) <- wholes(40, 60)
      changeBytes <- Seq(100L, 10000L, 1000000L)
      every <- Seq(1, 3, 10, 64)
    } {
      val state = new Files(wholeBytes = 10000000, changeBytes, begun)
      var most = 0
      for (n <- 1 to 5000) {
        state.change()
        if (n % every == 0) {
          state.maintain()
          most = math.max(most, state.files.length)
        }
      }
      withClue(s"$changeBytes bytes, every $every: ") {
        assert(state.merged <= 5 * 5000 * changeBytes)
        assert(most <= files)
      }
    }
  }

  test("the files of a state are consecutive without gaps") {
    val state = new Files(wholeBytes = 1000000, changeBytes = 100)
    for (n <- 1 to 1234) {
      state.change()
      if (n % 5 == 0) state.maintain()
      for ((newer, older) <- state.files.zip(state.files.drop(1)))
        assert(newer.from == older.version)
      assert(state.files.head.version == state.version && state.files.last.isWhole)
    }
  }

  test("ranges of two providers are disjoint or nested") {
    val random = new Random(1)
    val ranges = for (_ <- 1 to 30; begun = random.nextInt(40).toLong) yield {
      val state = new Files(wholeBytes = 1000000, changeBytes = 1L + random.nextInt(2000), begun)
      (1 to 400).flatMap { _ =>
        state.change()
        if (random.nextInt(9) == 0) state.maintain()
        state.files.filter(f => !f.isWhole && f.span > 1)
      }
    }
    val all = ranges.flatten.distinct
    assert(all.map(_.span).toSet == Set(10L, 100L))
    for (one <- all; other <- all)
      assert(one.version <= other.from || other.version <= one.from ||
        one.from <= other.from && one.version >= other.version ||
        other.from <= one.from && other.version >= one.version)
  }

  test("only ends of earlier wholes are kept besides a whole") {
    for (changeBytes <- Seq(1000L, 7000L, 30000L); every <- Seq(1, 3, 7, 20)) {
      val state = new Files(wholeBytes = 100000, changeBytes, begun = 0)
      var ends = Set.empty[Long]
      for (n <- 1 to 2500) {
        state.change()
        if (n % every == 0) state.maintain()
        ends += state.files.last.version
        val besides = MergeRule.besides(state.files.last).toSet - 0L
        assert(besides.subsetOf(ends), s"$changeBytes bytes, every $every, version $n")
      }
    }
  }

  test("file names encode kind and versions, also those of earlier releases") {
    val files = Seq(
      "7_a-b.change" -> StateFile(7, "a-b", 6),
      "7_a-b.whole" -> StateFile(7, "a-b", 0),
      "40_a-b.30.range" -> StateFile(40, "a-b", 30),
      "1_a-b.change" -> StateFile(1, "a-b", 0)
    )
    for ((name, file) <- files) {
      assert(StateFile.of(name).contains(file))
      assert(file.name == name)
    }
    for (other <- Seq("7_a-b.range", ".7_a-b.change.c.tmp", "7_a-b", "x_a.change", "7_a.3.whole"))
      assert(StateFile.of(other).isEmpty, other)
  }
}
