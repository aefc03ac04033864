package org.apache.spark.sql.streamjoin.physical.changelog

import org.apache.spark.sql.catalyst.expressions.{
  And,
  Attribute,
  AttributeSet,
  Expression,
  Literal,
  PlanExpression
}
import org.apache.spark.sql.streamjoin.checkpoint.{
  DescribedKind,
  DescribedTimes,
  DescribedZone,
  JoinDescription,
  StateFormat,
  StoredReference,
  StoredReferences,
  StoredTime,
  StoredTimes
}
import org.apache.spark.sql.streamjoin.logical.plan.analysis.ColumnOrigin
import org.apache.spark.sql.streamjoin.logical.plan.nodes.InputPart
import org.apache.spark.sql.types.{LongType, TimestampType}

import io.streamjoin.model.{BySide, Side}

/** Description of a changelog join, stored beside its state. */
private[changelog] object DescribedChangelog {

  def of(spec: ChangelogSpec, format: StateFormat): JoinDescription = {
    val times = new StoredTimes(spec.times.expressions, spec.bounds)
    JoinDescription(
      format.name,
      spec.on.joinType,
      spec.routing,
      spec.on.equiKeys.map(StoredTimes.sql(_)),
      DescribedTimes(
        spec.times.bases.map(_.name),
        if (spec.leaving.exists) times.proved else Nil,
        BySide.of(_ => StoredTime("identity", LongType)),
        BySide.of { side =>
          val own = spec.side(side)
          own.expiry.leaves.map(times(_)) ++ own.expiry.ttl.map { _ =>
            own.expiry.ttlTime.fold(StoredTime("state_ttl", TimestampType))(times(_))
          }
        },
        times.said
      ),
      zone(spec),
      DescribedKind.Changelog(
        Side.both.map(side => s"${side.name}: ${identity(spec.side(side))}"),
        condition(spec).map(_._1).distinct.sorted,
        inputs(spec),
        spec.inputs.filters.map(_.sql).distinct.sorted
      ),
      aliases =
        if (spec.normalizes) spec.words.aliases.map { case (s, called) =>
          s -> s"$called ($LatestVersions)"
        }
        else spec.words.aliases
    )
  }

  /**
   * Suffix of an alias, which distinguishes the latest versions of an input from its rows in the
   * join above.
   */
  private val LatestVersions = "last images"

  /**
   * The conjuncts, sorted, since their order has no effect. Subqueries are omitted: their text
   * differs at each start of the query.
   */
  private def condition(spec: ChangelogSpec): Seq[(String, Expression)] = {
    val ofLeft = AttributeSet(spec.left.columns)
    conjuncts(spec.on.condition)
      .filterNot(c => c == Literal.TrueLiteral || c.exists(_.isInstanceOf[PlanExpression[_]]))
      .map { conjunct =>
        conjunct.transform { case a: Attribute =>
          a.withQualifier(Seq((if (ofLeft.contains(a)) Side.Left else Side.Right).name))
        }.sql -> conjunct
      }
  }

  /** The expressions by which a row is found and matched, each with its text in the description. */
  def identifying(spec: ChangelogSpec): Seq[(String, Expression)] =
    StoredTimes.keys(spec.on.equiKeys) ++ condition(spec) ++
      spec.inputs.filters.map(f => f.sql -> f.condition) ++
      Side.both.map(spec.side).flatMap { side =>
        val times = side.expiry.leaves ++ side.expiry.ttl.flatMap(_ => side.expiry.ttlTime)
        (side.key.columns ++ side.key.sequence).map(identity(side) -> _) ++
          new StoredTimes(spec.times.expressions, spec.bounds).named(times)
      }

  /**
   * The filters and computed columns of the inputs. If they changed between the insert of a row and
   * its delete, the delete would not find the row.
   */
  private def inputs(spec: ChangelogSpec): Seq[String] = parts(spec).map(_._2).distinct.sorted

  /** The parts of the inputs that last, each with its side and its text. */
  private def parts(spec: ChangelogSpec): Seq[(Side, String, InputPart)] =
    spec.inputs.parts.collect {
      case (side, part) if part.lasts =>
        val column = part.column.fold(s"${side.name} WHERE ")(name => s"${side.name}.$name = ")
        (side, column + part.sql, part)
    }

  /** The columns that the parts of the inputs read. */
  def readByInputs(spec: ChangelogSpec): Seq[StoredReference] =
    parts(spec).flatMap { case (side, text, part) =>
      StoredReferences.withPlaces(part.reads.map { case (column, sources) =>
        StoredReference(text, side.name, column, ColumnOrigin(sources, 1)())
      })
    }

  /**
   * The session time zone of the condition and the inputs. If it changed between the insert of a
   * row and its delete, the delete would not find the row.
   */
  private def zone(spec: ChangelogSpec): Option[DescribedZone] =
    DescribedZone.of(
      spec.on.equiKeys.flatMap(k => Seq(k.left, k.right)) ++ conjuncts(spec.on.condition),
      spec.times.zones,
      spec.inputs.parts.map { case (_, part) => part.sql -> part.zones }
    )

  private def conjuncts(e: Expression): Seq[Expression] = e match {
    case And(a, b) => conjuncts(a) ++ conjuncts(b)
    case other     => Seq(other)
  }

  private def identity(side: ChangelogSide): String = {
    val told =
      if (side.key.columns.isEmpty) "all columns, counted"
      else side.key.columns.map(_.name).mkString(
        "key ",
        ", ",
        if (side.key.oneAJoinKey) ", one a join key" else ""
      )
    val sequence = side.key.sequence.fold("")(s => s", sequence ${s.name}")
    told + sequence + (if (side.expiry.ttl.isEmpty) "" else ", with state_ttl") +
      (if (side.expiry.retracts) ", retracted" else "")
  }
}
