package org.apache.spark.sql.streamjoin

/**
 * Adapters to internals of Spark that differ between its versions.
 *
 *  - A class that a version has moved or renamed has an alias in `RelocatedClasses`, for the type,
 *    the companion, or both. Other classes are imported from Spark.
 *  - For other differences, an object or trait here has one interface, and one body in each folder
 *    `scala-spark-*`.
 */
package object spark extends spark.RelocatedClasses
