-- The tables of pgpool.bank: a hundred accounts with 1,000 each.
CREATE TABLE accounts (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0));
CREATE TABLE transfers (
    id bigint PRIMARY KEY,
    source int NOT NULL REFERENCES accounts,
    target int NOT NULL REFERENCES accounts,
    amount bigint NOT NULL CHECK (amount > 0));
INSERT INTO accounts SELECT id, 1000 FROM generate_series(0, 99) id;
