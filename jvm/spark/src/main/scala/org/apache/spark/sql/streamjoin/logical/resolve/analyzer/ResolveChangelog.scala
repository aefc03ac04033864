package org.apache.spark.sql.streamjoin.logical.resolve.analyzer

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, MapData}
import org.apache.spark.sql.streamjoin.errors.ChangelogErrors
import org.apache.spark.sql.streamjoin.logical.plan.changes.ChangelogMarks
import org.apache.spark.sql.streamjoin.logical.plan.nodes.UnresolvedChangelog
import org.apache.spark.sql.streamjoin.logical.resolve.changelog.ChangelogSource
import org.apache.spark.sql.types.{BooleanType, MapType, StringType}

/** Analyzer rule for the SQL functions that declare a changelog. */
private[streamjoin] object ResolveChangelog extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = plan.resolveOperatorsUp {
    // requires the result of a changelog join below, so the join must be built before
    case u: UnresolvedChangelog if u.function == "to_upserts" =>
      if (u.childrenResolved && !u.child.exists(ResolveChangelogJoin.isPending)) declared(u) else u
    case u: UnresolvedChangelog if u.childrenResolved && u.expressions.forall(_.resolved) =>
      declared(u)
  }

  private def declared(u: UnresolvedChangelog): LogicalPlan = {
    val source = new ChangelogSource(u.child, conf.resolver)
    val keys = u.columns.getOrElse("key", Nil)
    def one(name: String): Option[String] = u.columns.get(name).map {
      case Seq(column) => column
      case _           => throw refused(u, s"$name is one column", s"$name => DESCRIPTOR(column)")
    }
    u.function match {
      case "from_changelog" =>
        source.changes(
          keys,
          one("op").getOrElse(ChangelogMarks.ChangeType),
          u.mapping.fold(Map.empty[String, String])(mapping(u, _)),
          one("sequence_by")
        )
      case "from_upserts" =>
        u.deletes.filter(_.dataType != BooleanType).foreach { e =>
          throw refused(
            u,
            s"deletes is not a condition: ${e.sql}",
            "a condition on columns of the input"
          )
        }
        source.upserts(
          needed(u, keys),
          one("sequence_by").getOrElse(
            throw ChangelogErrors.missingSequence(
              u.origin,
              "FROM_UPSERTS",
              "sequence_by => DESCRIPTOR(column), in Python sequence_by=\"column\", with a column " +
                "that increases with each change of a key"
            )
          ),
          u.deletes
        )
      case "to_upserts" => source.upsertsOf(keys)
      case _ =>
        source.debezium(needed(u, keys), one("value").getOrElse("value"), one("sequence_by"))
    }
  }

  private def needed(u: UnresolvedChangelog, key: Seq[String]): Seq[String] =
    if (key.nonEmpty) key
    else throw refused(u, "the key is missing", "key => DESCRIPTOR(column)")

  private def mapping(u: UnresolvedChangelog, e: Expression): Map[String, String] =
    e.dataType match {
      case MapType(StringType, StringType, _) if e.foldable =>
        val words = e.eval().asInstanceOf[MapData]
        ArrayBasedMapData.toScalaMap(
          words.keyArray().toObjectArray(StringType),
          words.valueArray().toObjectArray(StringType)
        ).map { case (word, kind) => String.valueOf(word) -> String.valueOf(kind) }.toMap
      case _ =>
        throw refused(
          u,
          s"op_mapping is ${e.sql}",
          "op_mapping => MAP('I', 'insert', 'D', 'delete')"
        )
    }

  private def refused(u: UnresolvedChangelog, reason: String, expected: String) =
    ChangelogErrors.invalidChangelog(u.origin, reason, expected)
}
