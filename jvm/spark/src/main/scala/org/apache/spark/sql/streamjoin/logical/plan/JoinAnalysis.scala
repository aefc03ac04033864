package org.apache.spark.sql.streamjoin.logical.plan

import org.apache.spark.sql.catalyst.expressions._
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
import org.apache.spark.sql.streamjoin.spark.NormalizeFloatingNumbers
import org.apache.spark.sql.types.BooleanType

import io.streamjoin.bounds.{JoinBounds, Multiple, TimeBound, TimeColumn}
import io.streamjoin.model.{BySide, JoinType, Side}
import io.streamjoin.watermark.{JoinWatermarks, WatermarkPlan}

/**
 * What of a condition is computed for a pair of rows.
 *
 * @param ofAny for any pair
 * @param ofOrdinary for a pair whose times are ordinary, see [[io.streamjoin.bounds.Saturated.isOrdinary]]
 */
private[streamjoin] final case class Residual(ofAny: Expression, ofOrdinary: Expression)

/**
 * All that follows from a join's condition and inputs: keys, predicates on one input, time columns,
 * bounds and watermarks.
 *
 * @param question what it is the analysis of
 * @param equiKeys the conjuncts by which rows are distributed and looked up
 * @param filters the conjuncts on one input alone
 * @param expressions the expression of each column of `bounds`
 * @param conditionBounds the bounds as found, each with its conjunct; and what was no bound, and why
 * @param bounds what follows from all of them, and from what joins below have enforced
 * @param zones the time zones of the session that the bounds depend on, of joins below too
 * @param padded the columns in whose place this join or one below puts NULL
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
) {

  def joinType: JoinType = question.joinType

  def condition: Expression = question.condition

  private val inputs: TimeColumns = question.times

  /** The source columns below, in the order in which their watermarks are kept. */
  val bases: Seq[BaseColumn] = inputs.bases

  def conjuncts: Seq[Expression] = JoinAnalysis.conjuncts(condition)

  /**
   * What of the condition is still to be seen of two rows of which a probe has found one for the
   * other, and of which each by itself can match.
   */
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

  /** The equality, where rows whose keys have one hash have one key. */
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

  /** What of the inputs' keys and times depends on the time zone of the session. */
  def zoned: Seq[ZonedPart] = Side.both.zip(question.inputs).flatMap { case (side, input) =>
    val keys = equiKeys.map(_.of(side))
    val read =
      AttributeSet(input.output).intersect(AttributeSet(keys ++ expressions)).map(_.name).toSet
    input.zoned.filter(part => read(part.column))
  }

  val watermarks: JoinWatermarks = {
    val plans = inputs.columns
    new JoinWatermarks(
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

  /** A time column that is a column of its input, not computed from one row. */
  def attribute(column: Int): Option[Attribute] =
    Some(expressions(column)).collect { case a: Attribute => a }

  /**
   * The columns of a side without a value in which a row matches nothing, and is counted as one without
   * a time: those that the condition bounds, unless a join below has put NULL there.
   */
  def neededTimes(side: Side): Seq[Attribute] = for {
    i <- bounds.indices(side) if bounds.constrained(i) && !bounds.columns(i).padded
    a <- attribute(i)
  } yield a

  /** The event-time columns of the join's own output. */
  def output: TimeColumns = {
    val out = for {
      // a column that nothing bounds may come out with any age: it is no event time any more
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

  /** What a row with a value on a side that this join alone pads is known by to be a match. */
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
   * Compares fields of windows, and numbers in different units, where this bounds a join that is unbounded without.
   * What a checkpoint holds of a join that is bounded by other times does not depend on them.
   */
  def of(question: JoinQuestion): JoinAnalysis = {
    def unbounded(a: JoinAnalysis) = Side.both.count(!a.bounds.bounded(_))
    val plain = of(question, WindowFields.none, multiples = false)
    if (unbounded(plain) == 0) plain
    else Some(ofAllTimes(question)).filter(unbounded(_) < unbounded(plain)).getOrElse(plain)
  }

  /** Compares fields of windows, and numbers in different units, in any case. */
  def ofAllTimes(question: JoinQuestion): JoinAnalysis = {
    val windows = new WindowFields(AttributeSet(question.named.map(_._1)), question.times.lengths)
    of(question, windows, multiples = true)
  }

  private def of(
      question: JoinQuestion,
      windows: WindowFields,
      multiples: Boolean
  ): JoinAnalysis = {
    import question.{condition, joinType, named}
    val watermarked = named.map(_._1)
    val names = named.map { case (a, name) => a.exprId -> name }.toMap
    val (left, right) = (AttributeSet(question.left.output), AttributeSet(question.right.output))
    val inputTimes = question.times
    val conditionBounds =
      ConditionBounds.of(condition, left, right, AttributeSet(watermarked), windows, multiples)

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

  /** Whether rows come out with NULL in the place of the columns of a side. */
  private def pads(joinType: JoinType, side: Side): Boolean =
    joinType.preserves(side.other) && !joinType.leftOnly

  /** Spark's optimizer makes one FALSE of a condition of which a part is false. */
  private def isNeverTrue(conjunct: Expression): Boolean = conjunct match {
    case Literal(value, BooleanType) => value != true
    case _                           => false
  }

  private def conjuncts(condition: Expression): Seq[Expression] =
    splitConjunctivePredicates(condition)

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
