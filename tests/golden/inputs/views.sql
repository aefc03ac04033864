-- a temporary view with a join
CREATE OR REPLACE TEMPORARY VIEW fast_delivered_orders AS SELECT o.id, o.order_time, d.address FROM IMPOSE_ORDER(TABLE(orders), DESCRIPTOR(order_time), INTERVAL '1' MINUTE) AS o JOIN IMPOSE_ORDER(TABLE(deliveries), DESCRIPTOR(delivery_time), INTERVAL '1' MINUTE) AS d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- and a query of it
SELECT * FROM fast_delivered_orders;

-- a temporary view with a window
CREATE OR REPLACE TEMPORARY VIEW windowed AS SELECT STREAM ROWTIME, o.id FROM orders_ordered o JOIN deliveries_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) d ON o.id = d.id;

-- a view joins again
SELECT w.ROWTIME, w.id, r.return_time FROM windowed w JOIN returns_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING) r ON w.id = r.id;

-- the name of a view must not be taken
CREATE TEMPORARY VIEW windowed AS SELECT 1 AS one;

-- a view of a window that no join takes in
CREATE OR REPLACE TEMPORARY VIEW alone AS SELECT * FROM orders_ordered OVER (RANGE INTERVAL '1' HOUR FOLLOWING);

-- a view of a join without bounds
CREATE OR REPLACE TEMPORARY VIEW unbounded AS SELECT o.id FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id;

-- a persistent view of temporary ones
CREATE VIEW kept AS SELECT o.id FROM orders_ordered o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- a persistent view over tables that can be streamed
CREATE VIEW shop_joined AS SELECT o.id, o.order_time, d.delivery_time FROM IMPOSE_ORDER(TABLE(SELECT * FROM STREAM shop_orders), DESCRIPTOR(order_time), INTERVAL '1' HOUR) AS o JOIN IMPOSE_ORDER(TABLE(SELECT * FROM STREAM shop_deliveries), DESCRIPTOR(delivery_time), INTERVAL '1' HOUR) AS d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;

-- and a query of it
SELECT * FROM shop_joined;

-- a persistent view joins again
SELECT s.id, r.return_time FROM shop_joined s JOIN returns_ordered r ON s.id = r.id AND r.return_time BETWEEN s.order_time AND s.order_time + INTERVAL '1' HOUR;

-- a persistent view, replaced, with a window
CREATE OR REPLACE VIEW shop_joined AS SELECT STREAM ROWTIME, o.id FROM IMPOSE_ORDER(TABLE(SELECT * FROM STREAM shop_orders), DESCRIPTOR(order_time), INTERVAL '1' HOUR) AS o JOIN IMPOSE_ORDER(TABLE(SELECT * FROM STREAM shop_deliveries), DESCRIPTOR(delivery_time), INTERVAL '1' HOUR) OVER (RANGE INTERVAL '1' HOUR FOLLOWING) AS d ON o.id = d.id;

-- the table of a stream without a watermark
SELECT * FROM STREAM shop_orders AS o JOIN deliveries_ordered d ON o.id = d.id AND d.delivery_time BETWEEN o.order_time AND o.order_time + INTERVAL '1' HOUR;
