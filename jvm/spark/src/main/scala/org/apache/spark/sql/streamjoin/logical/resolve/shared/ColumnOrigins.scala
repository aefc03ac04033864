package org.apache.spark.sql.streamjoin.logical.resolve.shared

import java.util.Locale

import org.apache.spark.sql.catalyst.expressions.{Alias, ExprId}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Union}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ColumnOrigin

/** Finds the sources of the columns of an input, as far as its plan tells. */
private[streamjoin] object ColumnOrigins {

  def of(input: LogicalPlan): Map[ExprId, ColumnOrigin] = {
    val (from, all) = (sources(input, 0), sources(input, 0, ofFirst = false))
    val found = input.output.map { a =>
      (a.exprId, a.name.toLowerCase(Locale.ROOT), from.getOrElse(a.exprId, Set.empty[Int]))
    }
    found.zipWithIndex.map { case ((id, name, from), i) =>
      val before = found.take(i).count { case (_, n, f) => n == name && f == from }
      id -> ColumnOrigin(from, before + 1)(all.getOrElse(id, from))
    }.toMap
  }

  /**
   * The sources of each column in the plan of an input, also below its output. A column that is in
   * several branches of a union has the sources of all of them.
   */
  def within(input: LogicalPlan): Map[ExprId, Set[Int]] = within(input, 0)

  private def within(part: LogicalPlan, first: Int): Map[ExprId, Set[Int]] = {
    val below = part.children.zip(firsts(part, first)).map { case (child, at) => within(child, at) }
    (sources(part, first) +: below).flatten.groupMapReduce(_._1)(_._2)(_ ++ _)
  }

  /** The places of the first sources of the children of a part, and that behind the part. */
  private[shared] def firsts(part: LogicalPlan, first: Int): Seq[Int] =
    part.children.scanLeft(first)(_ + InputSources.leaves(_).length)

  /**
   * The sources of the columns of a part of the input. Two parts may have columns with the same IDs.
   *
   * @param first the place of the first source of the part
   * @param ofFirst whether a column of a union has the sources of its first branch alone
   */
  private def sources(
      part: LogicalPlan,
      first: Int,
      ofFirst: Boolean = true
  ): Map[ExprId, Set[Int]] = part match {
    case source if InputSources.isSource(source) =>
      source.output.map(_.exprId -> Set(first)).toMap
    case u: Union =>
      val branches = u.children.zip(firsts(u, first)).take(if (ofFirst) 1 else u.children.length)
      val found = branches.flatMap { case (branch, at) =>
        val from = sources(branch, at, ofFirst)
        u.output.zip(branch.output).map { case (a, of) =>
          a.exprId -> from.getOrElse(of.exprId, Set.empty[Int])
        }
      }
      found.groupMapReduce(_._1)(_._2)(_ ++ _)
    case _ =>
      val places = firsts(part, first)
      val below = part.children.zip(places).flatMap { case (child, at) =>
        sources(child, at, ofFirst)
      }.toMap
      // a constant is of the only source below
      val ofConstant = Some(first).filter(_ => places.last == first + 1).toSet
      val made = part.expressions.flatMap(_.collect { case a: Alias =>
        val read = a.references.toSeq.flatMap(r => below.getOrElse(r.exprId, Set.empty[Int]))
        a.exprId -> (if (a.references.isEmpty) ofConstant else read.toSet)
      })
      below ++ made
  }
}
