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
