-- Orders with their deliveries; those without one as soon as none can come any more.
CREATE STREAMING TABLE delivered AS
SELECT o.order_id, o.order_time, d.delivery_time
FROM IMPOSE_ORDER(TABLE(SELECT * FROM STREAM orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE) AS o
LEFT JOIN IMPOSE_ORDER(TABLE(SELECT * FROM STREAM deliveries), DESCRIPTOR(delivery_time), INTERVAL '1' MINUTE) AS d
  ON o.order_id = d.order_id
 AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;
