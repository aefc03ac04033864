package org.apache.spark.sql.streamjoin.logical.resolve.changelog

import java.util.Locale

import org.apache.spark.sql.catalyst.analysis.Resolver
import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  Expression,
  GetStructField,
  If,
  IsNotNull,
  Literal,
  NamedExpression,
  RowOrdering
}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.changes.{ChangeKindOf, ChangelogMarks}
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks._
import org.apache.spark.sql.streamjoin.logical.plan.nodes.{ToUpserts, UniqueKey}
import org.apache.spark.sql.types.{DataType, IntegralType, Metadata, StringType, StructType}

import io.streamjoin.join.changelog.ChangeKind

/**
 * Declares the rows of an input as changes. A declaration is a projection whose columns carry
 * [[ChangelogMarks]]. Spark propagates the marks with the columns.
 */
private[streamjoin] final class ChangelogSource(input: LogicalPlan, resolver: Resolver) {

  private val arguments = new ArgumentColumns(input, resolver)
  import arguments.column

  private def marks(a: Attribute, key: Seq[Attribute], sequence: Option[Attribute]) = {
    val place = key.indexWhere(_.exprId == a.exprId)
    Seq(
      Option.when(place >= 0)(Key -> place.toLong),
      Option.when(sequence.exists(_.exprId == a.exprId))(Sequence -> 1L),
      Option.when(isNamed(a, CommitVersion) || isNamed(a, CommitTimestamp))(Commit -> 1L)
    ).flatten
  }

  private def isNamed(a: Attribute, name: String): Boolean =
    a.name.toLowerCase(Locale.ROOT) == name

  private def declared(
      columns: Seq[Attribute],
      kind: Expression,
      key: Seq[Attribute],
      sequence: Option[Attribute]
  ): LogicalPlan = {
    checkNames(columns.map(_.name))
    for (a <- key ++ sequence if !columns.contains(a)) throw ofChange(a)
    checkKey(key)
    sequence.foreach(a => checkOrder(a.name, a.dataType))
    val data: Seq[NamedExpression] = columns.map { a =>
      val own = marks(a, key, sequence)
      if (own.isEmpty && !isMarked(a)) a
      else marked(a, a.name, a.qualifier, unmarked(a).metadata, own: _*)
    }
    Project(data :+ ofKind(kind, columns.map(_.qualifier), key.length), input)
  }

  /**
   * @param qualifiers the qualifiers of the data columns; the kind has the same one if they agree
   */
  private def ofKind(kind: Expression, qualifiers: Seq[Seq[String]], keySize: Int): Alias = {
    val one = qualifiers.distinct
    val qualifier = if (one.length == 1) one.head else Nil
    marked(kind, ChangeType, qualifier, Metadata.empty, Kind -> keySize.toLong)
  }

  private def checkKey(key: Seq[Attribute]): Unit = {
    for (a <- key) {
      if (isNamed(a, CommitVersion) || isNamed(a, CommitTimestamp)) throw ofChange(a)
      checkOrder(a.name, a.dataType)
    }
    for (twice <- key.diff(key.distinct).headOption)
      throw refused(s"the key has ${twice.name} twice", "each column of the key once")
  }

  private def ofChange(a: Attribute) =
    refused(s"${a.name} describes a change, and is not part of its row", "another column")

  private def checkOrder(name: String, of: DataType): Unit =
    if (!RowOrdering.isOrderable(of))
      throw refused(
        s"the values of $name, of type ${of.sql}, have no order",
        "a column whose values can be compared"
      )

  /** Refuses an input that has changes already. Its deletes would count as inserts. */
  private def checkRows(): Unit =
    if (ChangelogMarks.changesWithin(input))
      throw refused(
        "the input is already a changelog, and the declaration would read its deletes as inserts",
        "the rows of a source. A changelog needs no second declaration, and toUpserts(key) " +
          "emits the latest change of each key"
      )

  /** Refuses a data column with the name of the kind column in the result. */
  private def checkNames(columns: Seq[String]): Unit =
    for (name <- columns.find(_.toLowerCase(Locale.ROOT) == ChangeType)) {
      throw refused(
        s"the rows already have a column $name",
        s"""the rows without this column, or rename it: .withColumnRenamed("$name", "kind")"""
      )
    }

  private def refused(reason: String, expected: String) =
    ChangelogErrors.invalidChangelog(input.origin, reason, expected)

  /** Declares rows with a row kind. */
  def changes(
      key: Seq[String],
      op: String,
      mapping: Map[String, String],
      sequenceBy: Option[String]
  ): LogicalPlan = {
    checkRows()
    val kind = column("op", op)
    if (!kind.dataType.isInstanceOf[StringType]) {
      throw refused(
        s"the column $op of the row kind has the type ${kind.dataType.sql}",
        "a column of type STRING"
      )
    }
    val keys = key.map(column("key", _))
    val sequence = sequenceBy.map(column("sequence_by", _)).orElse(
      Option.when(keys.nonEmpty)(input.output.find(isNamed(_, CommitVersion))).flatten
    )
    declared(
      input.output.filterNot(_.exprId == kind.exprId),
      ChangeKindOf(kind, words(mapping))(
        kind.name,
        "Map the values to row kinds, as op_mapping={\"I\": \"insert\"}, or filter such rows " +
          "out below"
      ),
      keys,
      sequence
    )
  }

  private def words(mapping: Map[String, String]): Map[String, String] =
    if (mapping.isEmpty) ChangeKindOf.known
    else
      mapping.toSeq.map { case (word, kind) =>
        val known = ChangeKindOf.known.getOrElse(
          kind.trim.toLowerCase(Locale.ROOT),
          throw refused(
            s"op_mapping maps '$word' to '$kind'",
            ChangeKind.all.map(_.name).mkString("one of ", ", ", "")
          )
        )
        word.trim.toLowerCase(Locale.ROOT) -> known
      }.groupMap(_._1)(_._2).map { case (word, kinds) =>
        if (kinds.distinct.length > 1)
          throw refused(
            s"op_mapping maps '$word' to ${kinds.distinct.sorted.mkString(" and ")}, because it " +
              "ignores case",
            "one row kind for each value. If the values differ only in case, compute a column " +
              "with distinct values"
          )
        word -> kinds.head
      }

  /** Declares upserts: each row is the latest version of its key. */
  def upserts(key: Seq[String], sequenceBy: String, deletes: Option[Expression]): LogicalPlan = {
    checkRows()
    val kind = deletes.fold[Expression](Literal(ChangeKind.Postimage.name)) { condition =>
      If(condition, Literal(ChangeKind.Delete.name), Literal(ChangeKind.Postimage.name))
    }
    declared(
      input.output.filterNot(isNamed(_, ChangeType)),
      kind,
      key.map(column("key", _)),
      Some(column("sequence_by", sequenceBy))
    )
  }

  /** Declares Debezium messages: each message is the latest version of its key. */
  def debezium(names: Seq[String], value: String, sequenceBy: Option[String]): LogicalPlan = {
    checkRows()
    val message = column("value", value)
    val debezium = DebeziumEnvelope.of(message).getOrElse(
      throw refused(
        s"the column $value is not a Debezium envelope: ${message.dataType.sql}",
        "a STRUCT with op, before and after, or a STRUCT with such a payload, as from_json " +
          "returns it"
      )
    )
    val sequence = sequenceOf(debezium, sequenceBy)
    val row = debezium.row
    val key = names.map(ArgumentColumns.plain(_, row.fieldNames.toSeq, resolver))
    val fields = row.fields.toSeq.zipWithIndex.map { case (f, i) =>
      val place = key.indexWhere(resolver(_, f.name))
      val own = if (place >= 0) Seq(Key -> place.toLong) else Nil
      marked(
        GetStructField(debezium.image, i, Some(f.name)),
        f.name,
        message.qualifier,
        Metadata.empty,
        own: _*
      )
    }
    checkNames(row.fieldNames.toSeq)
    checkKey(key.map { k =>
      fields.find(f => resolver(f.name, k)).getOrElse(throw refused(
        s"the key ${key.mkString(", ")} is not part of the rows",
        s"columns of ${row.fieldNames.mkString(", ")}"
      )).toAttribute
    })
    val op = debezium.opOf(value)
    val kind = ChangeKindOf(debezium.word, Debezium)(
      op,
      "A truncate, another kind of message, and an unparsed message change no row. Filter such " +
        s"messages out below, as .where(\"$op IN ('c', 'r', 'u', 'd')\")"
    )
    val commit = marked(
      sequence,
      CommitVersion,
      message.qualifier,
      Metadata.empty,
      Sequence -> 1L,
      Commit -> 1L
    )
    Project(
      fields :+ commit :+ ofKind(kind, Seq(message.qualifier), key.length),
      debezium.splitKeyUpdates(
        fields.indices.filter(i => fields(i).metadata.contains(Key)),
        // a tombstone repeats the delete before it, for the compaction of a topic
        Filter(IsNotNull(message), input)
      )
    )
  }

  private def sequenceOf(debezium: DebeziumEnvelope, path: Option[String]): Expression = {
    val sequence = path.map(withinOrBeside(debezium, _)).orElse(
      input.output.find(c => isNamed(c, "offset") && c.dataType.isInstanceOf[IntegralType])
    ).getOrElse(throw ChangelogErrors.missingSequence(
      input.origin,
      "fromDebezium",
      "sequence_by=\"source.lsn\", or another number of the source that increases with each " +
        "change. Or keep Kafka's column offset next to the value"
    ))
    checkOrder(path.getOrElse("offset"), sequence.dataType)
    sequence
  }

  /**
   * The field of a path in the envelope, or else in the message; otherwise the column with this
   * name.
   */
  private def withinOrBeside(debezium: DebeziumEnvelope, path: String): Expression = {
    def within(from: Expression) = path.split('.').foldLeft(Option(from)) { (at, name) =>
      at.flatMap(e =>
        e.dataType match {
          case s: StructType =>
            s.fields.zipWithIndex.collectFirst {
              case (f, i) if resolver(f.name, name) => GetStructField(e, i, Some(f.name))
            }
          case _ => None
        }
      )
    }
    within(debezium.envelope)
      .orElse(within(debezium.message))
      .getOrElse(column("sequence_by", path))
  }

  private val Debezium: Map[String, String] =
    Seq("c", "r", "u").map(_ -> ChangeKind.Postimage.name).toMap + ("d" -> ChangeKind.Delete.name)

  /** Consolidates the changes of each key in a batch to one change. */
  def upsertsOf(key: Seq[String]): LogicalPlan = {
    val kind = ChangelogMarks.kind(input).getOrElse(
      throw refused(
        "the rows are not changes, or lack the row kind",
        "a changelog or a join of changelogs, with the column _change_type"
      )
    )
    if (ToUpserts.isIn(input)) {
      throw refused(
        "the rows are already the output of toUpserts, which emits an update without its old image",
        "the changes themselves, without the toUpserts below"
      )
    }
    val changes = UnitedChanges.of(input)
    val known = if (key.isEmpty) UniqueKey.ofTable(changes) else key.map(column("key", _))
    if (known.exists(_.exprId == kind.exprId)) throw ofChange(kind)
    checkKey(known)
    for (what <- known.flatMap(NondeterministicColumns.in(changes).of).headOption)
      throw refused(
        s"the key contains $what, which differs between batches. The delete of a row could have " +
          "another key than its insert",
        "columns of the rows"
      )
    if (known.isEmpty) {
      throw refused(
        "the rows have no known key",
        "toUpserts(key=...) with columns of the result"
      )
    }
    ToUpserts(known, kind, LatestVersions.complete(changes))
  }
}
