package org.apache.spark.sql.streamjoin.spark

import java.lang.reflect.Field

import scala.util.Try

import org.apache.spark.sql.catalyst.trees.{Origin, TreeNode}

/**
 * Corrects where a node of a plan stands in the text. Spark notes it when it makes the node and has no
 * way to change it; without this field positions are those of the edited text, and so is the text shown
 * with them.
 */
private[streamjoin] object OriginOfNode {

  private val field: Option[Field] = Try {
    val f = classOf[TreeNode[_]].getDeclaredField("origin")
    f.setAccessible(true)
    f
  }.toOption

  val canBeSet: Boolean = field.nonEmpty

  def set(node: TreeNode[_], origin: Origin): Unit = field.foreach(_.set(node, origin))
}
