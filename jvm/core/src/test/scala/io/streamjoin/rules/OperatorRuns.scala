package io.streamjoin.rules

import io.streamjoin.join.asof.AsOfDriver
import io.streamjoin.join.changelog.{
  Change,
  ChangelogDriver,
  Expiry,
  Layout,
  Out,
  Row,
  TestChangelog
}
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.testing._

/** The batches of the operators in the cases of `tests/proofs/runs.py`. */
private[rules] object OperatorRuns {
  import CodeAnswers._

  /**
   * Runs the batches of a case.
   *
   * @param batch runs one, given its parts; what it emits, and what is stored after it
   */
  private def batches(asked: Fields)(batch: Seq[String] => (Seq[String], Seq[String])): Fields = {
    val found = asked("batches").split(";").toSeq.map(b => batch(b.split("\\|", -1).toSeq))
    def joined(some: Seq[Seq[String]]) = some.map(_.sorted.mkString("/")).mkString(";")
    Map("emitted" -> joined(found.map(_._1)), "stored" -> joined(found.map(_._2)))
  }

  private def split(rows: String): Seq[String] = if (rows.isEmpty) Nil else rows.split("/").toSeq

  private def named(emitted: Emitted): String = emitted match {
    case Joined(left, right) => s"${left.name}+${right.name}"
    case Unmatched(row)      => row.name
    case Matched(row)        => row.name
    case other               => sys.error(s"$other")
  }

  private def name(number: Int): String = f"$number%02d"

  def eventTime(of: JoinCase, asked: Fields): Fields = {
    val join = new TestJoin {
      of.bounds.columns.foreach(column)
      on(of.bounds.conjuncts)
      known(of.bounds.facts)
    }
    val driver = new BatchDriver(join, typeOf(asked("type")))
    var number = -1
    def row(text: String): TestRow = {
      val (key, times) = two(text.tail, ":")
      val side = sideOf(text.head)
      number += 1
      val present = of.bounds.indices(side).zip(items(times))
        .collect { case (c, time) if time != Absent => c -> time.toLong }
      TestRow(side, present.toMap, CodeAnswers.number(key), name = name(number))
    }
    val found = batches(asked) { parts =>
      val arrived = split(parts(2)).map(row)
      val emitted = driver.batch(sideOf(parts(0).head), arrived, marks(parts(1)))
      (
        emitted.map(named),
        Side.both.flatMap(driver.rows).map { case (row, matched) =>
          row.name + (if (matched) "*" else "")
        }
      )
    }
    driver.close()
    found
  }

  def asOf(asked: Fields): Fields = {
    val bounds = asOfBounds(asked, sideOf(asked("probe").head), asked("last").toInt)
    val state = new HeapJoinState[TestRow](identity)
    val driver = new AsOfDriver(typeOf(asked("type")), bounds, state, ends = _.name.endsWith("x"))
    var number = -1
    def row(text: String): TestRow = {
      val (key, time) = two(text.tail, ":")
      number += 1
      val ends = if (time.endsWith("x")) "x" else ""
      TestRow(
        sideOf(text.head),
        Map(0 -> time.stripSuffix("x").toLong),
        CodeAnswers.number(key),
        name = name(number) + ends
      )
    }
    batches(asked) { parts =>
      val watermarks = marks(parts(0))
      val emitted = driver.batch(split(parts(1)).map(row), BySide(watermarks(0), watermarks(1)))
      val stored = Side.both.flatMap(state.all)
        .map(r => r.row.name.stripSuffix("x") + (if (r.matched) "*" else ""))
      (emitted.map(named), stored)
    }
  }

  private val layouts =
    Map("one" -> Layout.OneAKey, "key" -> Layout.UniqueKey, "bag" -> Layout.NoKey)

  def changelog(asked: Fields): Fields = {
    val inputs = items(asked("inputs")).map(layouts)
    val ttl = CodeAnswers.number(asked("ttl"))
    val within = CodeAnswers.number(asked("within"))
    val driver = new ChangelogDriver(
      TestChangelog(
        typeOf(asked("type")),
        inputs(0),
        inputs(1),
        residual = asked("parity") == "1",
        within = within,
        expiry = if (asked("expiry") == "retract") Expiry.Retract else Expiry.Keep
      )
    )
    batches(asked) { parts =>
      driver.at(parts(0).toLong)
      val changes = split(parts(2)).map(r => sideOf(r(1)) -> change(r, ttl))
      def of(side: Side) = changes.collect { case (`side`, change) => change }
      val emitted = driver.batch(of(Side.Left), of(Side.Right))
      if (within.nonEmpty) driver.advance(marks(parts(1)))
      val stored = for (side <- Side.both; (row, marked) <- driver.rows(side) if !row.deleted)
        yield s"${side.name.head.toUpper}${shown(row)}@${row.sequence}${if (marked) "*" else ""}"
      (emitted.map(e => (if (e.kind.added) "+" else "-") + shown(e.row)), stored)
    }
  }

  private def change(text: String, ttl: Option[Long]): Change[Row] = {
    val parts = text.drop(2).split("\\.")
    val row = Row(
      Some(parts(0).toInt),
      parts(1).toInt,
      parts(2).toInt,
      CodeAnswers.number(parts(5)).fold(0)(_.toInt),
      ttl.fold(Long.MaxValue)(parts(4).toLong + _),
      parts(3).toLong
    )
    Change(row, added = text.head == '+')
  }

  private def shown(row: Row): String = s"${row.join.get}.${row.unique}.${row.value}.${row.time}"

  private def shown(out: Out): String = out.left.fold("")(shown) + "~" + out.right.fold("")(shown)
}
