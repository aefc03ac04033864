package org.apache.spark.sql.streamjoin.logical.times

import org.apache.spark.sql.catalyst.expressions.{Greatest => GreatestOf, Least => LeastOf, _}
import org.apache.spark.sql.streamjoin.conditions.{LinearTimes, TimeUnit}

import io.streamjoin.watermark.WatermarkPlan

/**
 * Derives the watermark of a time that is computed from columns of a plan, such as `ROWTIME` of a
 * join's rows. No later value of the expression is below it. None if no watermark can be derived.
 */
private[streamjoin] object TimeExpression {

  def watermark(e: Expression, times: TimeColumns): Option[WatermarkPlan] =
    if (TimeUnit.of(e.dataType).isEmpty) None else of(e, times)

  private def of(e: Expression, times: TimeColumns): Option[WatermarkPlan] = e match {
    case SameColumn(a) if times.columns.contains(a.exprId)            => times.columns.get(a.exprId)
    case Alias(child, _)                                              => of(child, times)
    case Cast(child, to, _, _) if TimeUnit.widens(child.dataType, to) => of(child, times)
    // a nullable value guarantees nothing: if it is NULL, the result is another value
    case GreatestOf(values) =>
      val certain = values.filterNot(mayBeNull(_, times)).flatMap(of(_, times))
      if (certain.nonEmpty) Some(WatermarkPlan.Greatest(certain)) else least(values, times)
    case LeastOf(values)  => least(values, times)
    case Coalesce(values) => least(values, times)
    case If(IsNull(SameColumn(a)), without, rest) =>
      either(of(without, times), of(rest, times.where(a)))
    case If(_, a, b)         => least(Seq(a, b), times)
    case CaseWhen(cases, or) => least(cases.map(_._2) ++ or, times)
    case other               => moved(other, times)
  }

  private def mayBeNull(e: Expression, times: TimeColumns): Boolean = e match {
    case SameColumn(a) => a.nullable && !times.present(a.exprId)
    case other         => other.nullable
  }

  /** The watermark of one of several values. A row without any value has no time. */
  private def least(values: Seq[Expression], times: TimeColumns): Option[WatermarkPlan] = {
    val plans = values.filterNot(isNull).map(of(_, times))
    Option.when(plans.nonEmpty && plans.forall(_.nonEmpty))(WatermarkPlan.Least(plans.flatten))
  }

  private def either(a: Option[WatermarkPlan], b: Option[WatermarkPlan]): Option[WatermarkPlan] =
    for (x <- a; y <- b) yield WatermarkPlan.Least(Seq(x, y))

  private def isNull(e: Expression): Boolean = e match {
    case Literal(null, _) => true
    case _                => false
  }

  private val linear = new LinearTimes(_ => true)

  private def sameUnit(a: Expression, b: Expression): Boolean =
    TimeUnit.of(a.dataType) == TimeUnit.of(b.dataType)

  /** A time plus a constant. */
  private def moved(e: Expression, times: TimeColumns): Option[WatermarkPlan] =
    linear.of(e).toOption.filter(_.scale == 1).flatMap { sum =>
      sum.terms.toSeq match {
        case Seq((term, factor))
            if factor == 1 && sum.low.isValidLong && term.expression != e &&
              sameUnit(term.expression, e) =>
          of(term.expression, times).map(WatermarkPlan.Shifted(_, sum.low.toLong))
        case _ => None
      }
    }
}
