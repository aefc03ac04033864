package org.apache.spark.sql.streamjoin.logical.times

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{IntegralType, LongType}

/**
 * Recognizes the arithmetic with which Spark computes the windows of a time, in microseconds.
 *
 * {{{
 *   start    t - (CASE WHEN t % slide < 0 THEN t % slide + slide ELSE t % slide END) - n
 *   end      the same + length
 * }}}
 *
 * Spark creates a struct of both, of which its optimizer may retain only one. The value decides
 * which one it is: a window starts no later than each of its times, and ends after all of them.
 *
 * Source: Spark, `TimeWindowing`.
 */
private[times] object WindowArithmetic {

  /** The time of the window whose end is this expression; none for other expressions. */
  def timeOfEnd(e: Expression): Option[Expression] = e match {
    case PreciseTimestampConversion(micros, LongType, _) =>
      around(micros).collect { case (time, least) if least > 0 => time }
    case _ => None
  }

  /** The length of a window with this start and end; none if the length varies. */
  def length(start: Expression, end: Expression): Option[Long] = (start, end) match {
    case (
          PreciseTimestampConversion(from, LongType, _),
          PreciseTimestampConversion(Add(same, Whole(length), _), LongType, _)
        ) if from.semanticEquals(same) =>
      Some(length)
    case _ => None
  }

  /** A time, and the least distance from it to the value of an expression. */
  private def around(e: Expression): Option[(Expression, Long)] = e match {
    case PreciseTimestampConversion(time, _, LongType) => Some((time, 0L))
    case Add(sum, Whole(n), _)                         => moved(sum, n)
    case Subtract(sum, Whole(n), _)                    => moved(sum, -n)
    case Subtract(sum, SinceStart(slide), _)           => moved(sum, 1 - slide)
    case _                                             => None
  }

  private def moved(sum: Expression, by: Long): Option[(Expression, Long)] =
    around(sum).map { case (time, least) => (time, least + by) }

  private object Whole {
    def unapply(e: Expression): Option[Long] = e.dataType match {
      case _: IntegralType if e.foldable =>
        Try(e.eval()).toOption.collect { case n: Number => n.longValue }
      case _ => None
    }
  }

  /** The distance of a time from the start of its window: a non-negative remainder. */
  private object SinceStart {
    def unapply(e: Expression): Option[Long] = e match {
      case CaseWhen(Seq((negative, raised)), Some(same)) => size(negative, raised, same)
      case If(negative, raised, same)                    => size(negative, raised, same)
      case _                                             => None
    }

    private def size(negative: Expression, raised: Expression, same: Expression): Option[Long] =
      (negative, raised, same) match {
        case (LessThan(a, Whole(0)), Add(b, Whole(n), _), c @ Remainder(_, Whole(m), _))
            if n == m && m > 0 && a.semanticEquals(c) && b.semanticEquals(c) =>
          Some(m)
        case _ => None
      }
  }
}
