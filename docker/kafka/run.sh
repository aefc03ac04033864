# Settings from the environment, storage formatted if it is new, and the broker in place of this shell.
set -eu
export CLUSTER_ID="${CLUSTER_ID:-c3RyZWFtam9pbi1kb2NrZXI}"
options="-XX:+UseSerialGC -XX:TieredStopAtLevel=1 ${KAFKA_HEAP_OPTS:--Xms64m -Xmx384m}"

said=$(java $options -cp '/opt/kafka/libs/*' kafka.docker.KafkaDockerWrapper setup \
  --default-configs-dir /etc/kafka/docker \
  --mounted-configs-dir /mnt/shared/config \
  --final-configs-dir /opt/kafka/config 2>&1) ||
  case $said in
    # by the run of this container before
    *'already formatted'*) ;;
    *) echo "$said" >&2; exit 1 ;;
  esac
exec java $options -Dlog4j2.configurationFile=/opt/kafka/config/log4j2.yaml \
  -cp '/opt/kafka/libs/*' kafka.Kafka /opt/kafka/config/server.properties
