package org.apache.spark.sql.streamjoin.physical.asof

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Left => _, Right => _, _}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.EquiKey
import org.apache.spark.sql.streamjoin.physical.exchange.{RowHash, RowsByBytes}
import org.apache.spark.sql.streamjoin.physical.stateful.times.TimeReader

import io.streamjoin.join.asof.AsOfRows
import io.streamjoin.model.{BySide, Side}
import io.streamjoin.placement.Routing

/**
 * Accessors of Spark's rows for an as-of join, with generated code. One instance serves one task.
 */
private[asof] final class UnsafeAsOfRows(spec: AsOfSpec, columns: BySide[Seq[Attribute]])
    extends AsOfRows[UnsafeRow] {

  private val build = spec.bounds.build
  private val keys = spec.join.equiKeys
  private val sides = BySide.of(new OneSide(_))
  private val pair = new JoinedRow

  private val whole = predicate(spec.join.residual.ofAny, columns.left ++ columns.right)

  /**
   * Whether two build rows have equal keys. The second row has attributes with new expression IDs.
   */
  private val sameKeys: Option[BasePredicate] = {
    val own = columns(build)
    val others = own.map(_.newInstance())
    val toOther = AttributeMap(own.zip(others))
    predicate(
      all(spec.join.keys(build).map { k =>
        EqualNullSafe(k, k.transform { case a: Attribute => toOther.getOrElse(a, a) })
      }),
      own ++ others
    )
  }

  private val pairedKeys = predicate(
    all(keys.map(k =>
      if (k.nullSafe) EqualNullSafe(k.left, k.right) else EqualTo(k.left, k.right)
    )),
    columns.left ++ columns.right
  )

  override def isTimeless(side: Side, row: UnsafeRow): Boolean = sides(side).isTimeless(row)

  override def time(side: Side, row: UnsafeRow): Long = sides(side).time(row)

  override def joinable(side: Side, row: UnsafeRow): Boolean = sides(side).joinable(row)

  override def key(side: Side, row: UnsafeRow): Long = sides(side).key(row)

  override def sameKey(one: UnsafeRow, other: UnsafeRow): Boolean =
    sameKeys.forall(_.eval(pair(one, other)))

  override def hasKeyOf(probe: UnsafeRow, other: UnsafeRow): Boolean =
    pairedKeys.forall(_.eval(if (build == Side.Right) pair(probe, other) else pair(other, probe)))

  private val deleted = spec.versions.fold(-1)(v => place(v.deleted))

  override def ends(row: UnsafeRow): Boolean = deleted >= 0 && row.getBoolean(deleted)

  private val bySequence: Option[Ordering[InternalRow]] =
    spec.versions.flatMap(_.sequence).map { s =>
      val order = SortOrder(BoundReference(place(s), s.dataType, nullable = true), Ascending)
      RowOrdering.create(Seq(order), Nil)
    }

  private def place(column: Attribute): Int =
    columns(build).indexWhere(_.exprId == column.exprId)

  /** Rows are ordered by their bytes, and those of the build side by [[compareVersions]] first. */
  override def compareTied(side: Side, one: UnsafeRow, other: UnsafeRow): Int = {
    val versions = if (side == build) compareVersions(one, other) else 0
    if (versions != 0) versions else RowsByBytes.compare(one, other)
  }

  /** By the sequence. Within one sequence, a delete precedes the row that replaces the deleted one. */
  private def compareVersions(one: UnsafeRow, other: UnsafeRow): Int = {
    val sequence = bySequence.fold(0)(_.compare(one, other))
    if (sequence != 0) sequence else java.lang.Boolean.compare(ends(other), ends(one))
  }

  override def matches(left: UnsafeRow, right: UnsafeRow): Boolean =
    whole.forall(_.eval(pair(left, right)))

  override def copy(row: UnsafeRow): UnsafeRow = row.copy()

  private def all(conditions: Seq[Expression]): Expression =
    conditions.reduceOption(And(_, _)).getOrElse(Literal.TrueLiteral)

  private def predicate(condition: Expression, input: Seq[Attribute]): Option[BasePredicate] =
    Option.when(condition != Literal.TrueLiteral)(Predicate.create(condition, input))

  private final class OneSide(side: Side) {
    private val own = columns(side)
    private val ordinal = own.indexWhere(_.exprId == spec.times(side).exprId)
    private val read = TimeReader.of(spec.times(side).dataType)
    private lazy val hash = new RowHash(spec.join.keys(side), own)

    private val mayMatch = predicate(
      all((if (side == build) Nil else spec.join.filters(side)) ++ EquiKey.notNull(keys, side)),
      own
    )

    def isTimeless(row: UnsafeRow): Boolean = row.isNullAt(ordinal)

    def time(row: UnsafeRow): Long = read(row, ordinal)

    def joinable(row: UnsafeRow): Boolean = mayMatch.forall(_.eval(row))

    def key(row: UnsafeRow): Long = if (keys.isEmpty) Routing.NoKey else hash(row)
  }
}
