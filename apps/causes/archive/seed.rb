# frozen_string_literal: true

require_relative "lib/database"

DB = Database.connect
exit if ARGV.include?("--reset") && DB.query("SHOW TABLES LIKE 'articles'").any?

# Articles are numbered within their section, without gaps.
DB.query(<<~SQL)
  CREATE TABLE articles (
    id INT PRIMARY KEY AUTO_INCREMENT,
    section_id INT NOT NULL,
    number INT NOT NULL,
    title VARCHAR(80) NOT NULL,
    teaser VARCHAR(400) NOT NULL,
    UNIQUE KEY (section_id, number)
  )
SQL
DB.query(<<~SQL)
  INSERT INTO articles (section_id, number, title, teaser)
  SELECT 1 + seq % 4, 1 + (seq - 1) DIV 4, CONCAT('Article ', seq), REPEAT(CONCAT('What happened on day ', seq % 365, '. '), 6)
  FROM seq_1_to_60000
SQL
DB.query("ANALYZE TABLE articles")
