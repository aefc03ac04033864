# Submits a job to the composition's cluster, with the jars that it needs.
set -eu
connector=$(ls /connector/*.jar | tr '\n' ',')
exec spark-submit \
  --master spark://master:7077 \
  --jars "$connector$(python3 -m streamjoin jar)" \
  --conf spark.driver.host="$(hostname)" \
  --conf spark.executor.memory=600m \
  --conf spark.sql.shuffle.partitions=4 \
  --conf spark.sql.extensions=io.streamjoin.StreamJoinExtensions \
  "$@"
