CREATE TABLE members (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  is_child INTEGER NOT NULL DEFAULT 0 CHECK (is_child IN (0, 1)),
  fees_owed REAL NOT NULL DEFAULT 0 CHECK (fees_owed >= 0),
  interests TEXT NOT NULL DEFAULT '[]',  -- JSON array
  staff_remark TEXT,
  updated_at TEXT
) STRICT;

CREATE TABLE books (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL,
  author TEXT NOT NULL,
  collection TEXT NOT NULL CHECK (collection IN ('general', 'study')),
  copies INTEGER NOT NULL CHECK (copies > 0)
) STRICT;

CREATE TABLE loans (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  book_id TEXT NOT NULL REFERENCES books (id),
  due_on TEXT NOT NULL,
  returned_on TEXT,
  renewals INTEGER NOT NULL DEFAULT 0,
  late_fee REAL,
  note TEXT
) STRICT;

CREATE TABLE holds (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  book_id TEXT NOT NULL REFERENCES books (id),
  placed_at TEXT NOT NULL,
  UNIQUE (member_id, book_id)
) STRICT;

CREATE TABLE pickups (
  id INTEGER PRIMARY KEY,
  hold_id TEXT NOT NULL REFERENCES holds (id) ON DELETE CASCADE,
  pickup_on TEXT NOT NULL
) STRICT;

CREATE INDEX loans_by_member ON loans (member_id);
