package org.apache.spark.sql.streamjoin.logical.plan.analysis

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.streamjoin.ColumnNames
import org.apache.spark.sql.streamjoin.conditions.{
  ConditionBounds,
  ExpressionKey,
  FoundBound,
  MultipleOf,
  SessionZone,
  WindowFields
}
import org.apache.spark.sql.streamjoin.logical.times.{BaseColumn, TimeColumns, TimeFact}
import org.apache.spark.sql.types.BooleanType

import io.streamjoin.bounds.{JoinBounds, Multiple, TimeBound, TimeColumn}
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * The residual condition: what remains to be evaluated after the index probe and the one-sided
 * filters.
 *
 * @param ofAny for any pair
 * @param ofOrdinary for a pair of ordinary times, see [[io.streamjoin.bounds.Saturated.isOrdinary]]
 */
private[streamjoin] final case class Residual(ofAny: Expression, ofOrdinary: Expression)

/**
 * The analysis of a join: keys, one-sided filters, time columns, bounds and watermarks that follow
 * from its condition and inputs.
 *
 * @param question the inputs of the analysis
 * @param equiKeys the equalities by which rows are partitioned and looked up
 * @param filters the conjuncts that reference one input only
 * @param expressions the expression of each column of `bounds`
 * @param conditionBounds the bounds with their conjuncts, and the other conjuncts with the reason
 *   why they are no bounds
 * @param bounds all bounds together, with those that joins below have enforced
 * @param zones the session time zones that the bounds depend on, with those of joins below
 * @param padded the columns that this join or one below may pad with NULL
 */
private[streamjoin] final case class JoinAnalysis(
    question: JoinQuestion,
    equiKeys: Seq[EquiKey],
    filters: BySide[Seq[Expression]],
    expressions: IndexedSeq[Expression],
    conditionBounds: ConditionBounds,
    bounds: JoinBounds,
    zones: Set[String],
    padded: Set[ExprId]
) extends PredicateHelper {

  def joinType: JoinType = question.joinType

  def condition: Expression = question.condition

  private val inputs: TimeColumns = question.times

  /** The source columns of the watermarks, in the order in which they are stored. */
  val bases: Seq[BaseColumn] = inputs.bases

  def conjuncts: Seq[Expression] = splitConjunctivePredicates(condition)

  /** The conjuncts that neither the probe nor the one-sided filters have settled. */
  def residual: Residual = {
    def ends(some: Seq[Expression]) = some.map(new ExpressionKey(_)).toSet
    val probed = ends(Side.both.map(side => expressions(bounds.probeColumn(side))))
    val (ordinary, any) = conditionBounds.found
      .filter(b => b.isWholeConjunct && ends(Seq(b.later, b.earlier)) == probed)
      .partition(_.needsOrdinary)
    val settled = Side.both.flatMap(filters) ++ exactKey ++ any.map(_.conjunct)
    Residual(without(settled), without(settled ++ ordinary.map(_.conjunct)))
  }

  private def without(settled: Seq[Expression]): Expression =
    conjuncts
      .filterNot(c => settled.exists(_ eq c))
      .reduceOption(And(_, _))
      .getOrElse(Literal.TrueLiteral)

  /** The equality, if equal hashes imply equal keys. */
  private def exactKey: Option[Expression] =
    if (KeyHash.isExact(equiKeys)) conjuncts.find(isEquality) else None

  def isEquality(conjunct: Expression): Boolean = conjunct match {
    case EqualTo(l, r)       => isKey(l, r)
    case EqualNullSafe(l, r) => isKey(l, r)
    case _                   => false
  }

  private def isKey(l: Expression, r: Expression): Boolean = {
    val (x, y) = (NormalizeFloatingNumbers.normalize(l), NormalizeFloatingNumbers.normalize(r))
    equiKeys.exists(k => (k.left == x && k.right == y) || (k.left == y && k.right == x))
  }

  /** The parts of the inputs' keys and times that depend on the session time zone. */
  def zoned: Seq[ZonedPart] = Side.both.zip(question.inputs).flatMap { case (side, input) =>
    val keys = equiKeys.map(_.of(side))
    val read =
      AttributeSet(input.output).intersect(AttributeSet(keys ++ expressions)).map(_.name).toSet
    input.zoned.filter(part => read(part.column))
  }

  val watermarks: JoinWatermarks = {
    val plans = inputs.columns
    JoinWatermarks(
      question.named.map(_._1.exprId.id).toSet,
      bounds,
      expressions.map {
        case a: Attribute => plans.getOrElse(a.exprId, WatermarkPlan.Never)
        case MultipleOf(a: Attribute, factor) =>
          plans.get(a.exprId).fold[WatermarkPlan](WatermarkPlan.Never) {
            WatermarkPlan.Multiple(_, factor)
          }
        case _ => WatermarkPlan.Never
      }
    )
  }

  /** A time column that is a column of its input; none: it is computed. */
  def attribute(column: Int): Option[Attribute] =
    Some(expressions(column)).collect { case a: Attribute => a }

  /**
   * The columns of a side in which NULL means that the row matches nothing and is counted as a row
   * without a time. These are the bounded columns that no join below pads.
   */
  def neededTimes(side: Side): Seq[Attribute] = for {
    i <- bounds.indices(side) if bounds.constrained(i) && !bounds.columns(i).padded
    a <- attribute(i)
  } yield a

  /** The event-time columns of the join's output. */
  def output: TimeColumns = {
    val out = for {
      // without a bound, rows of any age may be emitted, so the column is no event time above the
      // join
      i <- bounds.columns.indices if bounds.watermarkedInOutput(i)
      if joinType.emits(bounds.columns(i).side)
      a <- attribute(i)
    } yield i -> a.exprId
    val ids = out.toMap
    inputs.copy(
      columns = out.map { case (i, id) => id -> WatermarkPlan.Joined(watermarks, i) }.toMap,
      facts =
        for (b <- bounds.outputFacts(joinType); l <- ids.get(b.later); e <- ids.get(b.earlier))
          yield TimeFact(l, e, b.slack),
      present = out.collect { case (i, id) if !bounds.nullableInOutput(i, joinType) => id }.toSet,
      padded = padded,
      matched = inputs.matched ++ matched
    )
  }

  /**
   * For each time column of a side that only this join pads: the bounded time columns. If that
   * column has a value, the row is a match, and these are not NULL.
   */
  private def matched: Map[ExprId, Set[ExprId]] =
    Side.both.filter(JoinAnalysis.pads(joinType, _)) match {
      case Seq(side) =>
        val met = for {
          i <- bounds.columns.indices if bounds.constrained(i)
          a <- attribute(i)
        } yield a.exprId
        bounds.indices(side).flatMap(attribute).map(_.exprId -> met.toSet).toMap
      case _ => Map.empty
    }
}

private[streamjoin] object JoinAnalysis extends PredicateHelper {

  /**
   * Compares window fields, and numbers in different units, only if this bounds a join that is
   * unbounded otherwise. So the checkpoint of any other join does not depend on these comparisons.
   */
  def of(question: JoinQuestion): JoinAnalysis = {
    def unbounded(a: JoinAnalysis) = Side.both.count(!a.bounds.bounded(_))
    val plain = of(question, allTimes = false)
    if (unbounded(plain) == 0) plain
    else Some(ofAllTimes(question)).filter(unbounded(_) < unbounded(plain)).getOrElse(plain)
  }

  /** Compares window fields, and numbers in different units, in any case. */
  def ofAllTimes(question: JoinQuestion): JoinAnalysis = of(question, allTimes = true)

  private def of(question: JoinQuestion, allTimes: Boolean): JoinAnalysis = {
    import question.{condition, joinType, named}
    val watermarked = named.map(_._1)
    val windows =
      if (!allTimes) WindowFields.none
      else new WindowFields(AttributeSet(watermarked), question.times.lengths)
    val names = named.map { case (a, name) => a.exprId -> name }.toMap
    val (left, right) = (AttributeSet(question.left.output), AttributeSet(question.right.output))
    val inputTimes = question.times
    val conditionBounds =
      ConditionBounds.of(condition, left, right, AttributeSet(watermarked), windows, allTimes)

    val numbered = number(watermarked, conditionBounds.found, left)
    val place = numbered.map(new ExpressionKey(_)).zipWithIndex.toMap
    import inputTimes.{facts, padded, present}
    val columns = numbered.map { e =>
      val side = if (e.references.subsetOf(left)) Side.Left else Side.Right
      e match {
        case a: Attribute =>
          TimeColumn(
            side,
            names.getOrElse(a.exprId, ColumnNames.of(a)),
            inputTimes.isWatermarked(a),
            a.nullable && !present(a.exprId),
            padded(a.exprId)
          )
        case _ =>
          val ofPadded = e.references.exists(a => padded(a.exprId))
          val multiple = Some(e).collect {
            case MultipleOf(a: Attribute, factor) if inputTimes.isWatermarked(a) =>
              Multiple(place(new ExpressionKey(a)), factor)
          }
          TimeColumn(side, ColumnNames.sql(e), watermarked = false, e.nullable, ofPadded, multiple)
      }
    }
    val byId = watermarked.map(a => a.exprId -> place(new ExpressionKey(a))).toMap
    val conjuncts = splitConjunctivePredicates(condition)
    JoinAnalysis(
      question,
      equiKeys(conjuncts, left, right),
      BySide(left, right).map(oneSided(conjuncts, _)),
      numbered,
      conditionBounds,
      new JoinBounds(
        columns,
        conditionBounds.found.map { b =>
          TimeBound(place(new ExpressionKey(b.later)), place(new ExpressionKey(b.earlier)), b.slack)
        },
        for (f <- facts; l <- byId.get(f.later); e <- byId.get(f.earlier))
          yield TimeBound(l, e, f.slack),
        neverTrue = conjuncts.exists(isNeverTrue)
      ),
      conditionBounds.found.flatMap(b => SessionZone.of(b.conjunct)).toSet ++
        question.inputs.flatMap(_.zones),
      padded ++ Side.both.zip(question.inputs).flatMap { case (side, input) =>
        if (pads(joinType, side)) input.output.map(_.exprId) else Nil
      }
    )
  }

  /** Whether the join pads the columns of a side with NULL. */
  private def pads(joinType: JoinType, side: Side): Boolean =
    joinType.preserves(side.other) && !joinType.leftOnly

  /** Spark's optimizer folds a condition with a false conjunct to FALSE. */
  private def isNeverTrue(conjunct: Expression): Boolean = conjunct match {
    case Literal(value, BooleanType) => value != true
    case _                           => false
  }

  private def number(
      watermarked: Seq[Attribute],
      found: Seq[FoundBound],
      left: AttributeSet
  ): IndexedSeq[Expression] = {
    val all = (watermarked ++ found.flatMap(b => Seq(b.later, b.earlier))).map(new ExpressionKey(_))
    val (ofLeft, ofRight) = all.distinct.map(_.expression).partition(_.references.subsetOf(left))
    (ofLeft ++ ofRight).toIndexedSeq
  }

  private[plan] def oneSided(conjuncts: Seq[Expression], input: AttributeSet): Seq[Expression] =
    conjuncts.filter(c => c.deterministic && c.references.subsetOf(input))

  private[plan] def equiKeys(
      conjuncts: Seq[Expression],
      left: AttributeSet,
      right: AttributeSet
  ): Seq[EquiKey] = {
    def usable(l: Expression, r: Expression): Boolean =
      l.references.nonEmpty && r.references.nonEmpty &&
        l.references.subsetOf(left) && r.references.subsetOf(right) &&
        l.deterministic && r.deterministic && DataTypeUtils.sameType(l.dataType, r.dataType)
    def key(l: Expression, r: Expression, nullSafe: Boolean): Option[EquiKey] =
      Seq((l, r), (r, l)).collectFirst {
        case (a, b) if usable(a, b) =>
          EquiKey(
            NormalizeFloatingNumbers.normalize(a),
            NormalizeFloatingNumbers.normalize(b),
            nullSafe
          )
      }
    conjuncts.flatMap {
      case EqualTo(l, r)       => key(l, r, nullSafe = false)
      case EqualNullSafe(l, r) => key(l, r, nullSafe = true)
      case _                   => None
    }
  }
}
