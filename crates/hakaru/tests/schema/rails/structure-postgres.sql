\restrict JCm9WfAdXKXfenGzQV3wQiwjWpg019x7l1vkmRBxndkXwfZaaZXeEl0n4H4dkAc

-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: billing; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA billing;


--
-- Name: btree_gist; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;


--
-- Name: EXTENSION btree_gist; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION btree_gist IS 'support for indexing common datatypes in GiST';


--
-- Name: citext; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS citext WITH SCHEMA public;


--
-- Name: EXTENSION citext; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION citext IS 'data type for case-insensitive character strings';


--
-- Name: hstore; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS hstore WITH SCHEMA public;


--
-- Name: EXTENSION hstore; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION hstore IS 'data type for storing sets of (key, value) pairs';


--
-- Name: pg_trgm; Type: EXTENSION; Schema: -; Owner: -
--

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;


--
-- Name: EXTENSION pg_trgm; Type: COMMENT; Schema: -; Owner: -
--

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';


--
-- Name: mood; Type: TYPE; Schema: public; Owner: -
--

CREATE TYPE public.mood AS ENUM (
    'sad',
    'it''s ok',
    'happy'
);


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: invoices; Type: TABLE; Schema: billing; Owner: -
--

CREATE TABLE billing.invoices (
    id bigint NOT NULL,
    author_id bigint
);


--
-- Name: invoices_id_seq; Type: SEQUENCE; Schema: billing; Owner: -
--

CREATE SEQUENCE billing.invoices_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: invoices_id_seq; Type: SEQUENCE OWNED BY; Schema: billing; Owner: -
--

ALTER SEQUENCE billing.invoices_id_seq OWNED BY billing.invoices.id;


--
-- Name: ar_internal_metadata; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ar_internal_metadata (
    key character varying NOT NULL,
    value character varying,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);


--
-- Name: authors; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.authors (
    id bigint NOT NULL,
    name character varying(80) DEFAULT 'x "y" it''s
#z'::character varying NOT NULL,
    email public.citext,
    mood public.mood DEFAULT 'happy'::public.mood NOT NULL,
    age smallint,
    big bigint DEFAULT '12345678901'::bigint,
    ok boolean DEFAULT false,
    price numeric(10,2) DEFAULT 0.0,
    whole numeric(5,0),
    "any" numeric,
    f double precision DEFAULT 1.5,
    at6 timestamp(6) without time zone DEFAULT CURRENT_TIMESTAMP,
    at timestamp without time zone,
    at3 timestamp(3) without time zone,
    tz timestamp with time zone,
    clock time without time zone DEFAULT '12:30:00'::time without time zone,
    day date DEFAULT '2020-02-03'::date,
    blob bytea,
    j json,
    jb jsonb DEFAULT '{}'::jsonb NOT NULL,
    jl jsonb DEFAULT '[1, "a", {"b": null}]'::jsonb,
    h public.hstore DEFAULT '"a"=>"1"'::public.hstore,
    tags character varying[] DEFAULT '{}'::character varying[],
    names text[] DEFAULT '{"a b",c,"d\"e"}'::text[],
    numbers integer[] DEFAULT '{1,2}'::integer[],
    key uuid DEFAULT gen_random_uuid(),
    ip inet DEFAULT '127.0.0.1'::inet,
    net cidr,
    mac macaddr,
    x xml,
    tv tsvector,
    p point,
    b bit(3),
    bv bit varying(5) DEFAULT '101'::"bit",
    m money,
    i interval,
    r int4range,
    tr tstzrange,
    o oid,
    "real" real,
    loud character varying GENERATED ALWAYS AS (upper((name)::text)) STORED,
    coll character varying COLLATE pg_catalog."C",
    CONSTRAINT age_is_positive CHECK ((age > 0)),
    CONSTRAINT chk_rails_071963c364 CHECK ((big > 1)),
    CONSTRAINT later CHECK ((price >= (0)::numeric))
);


--
-- Name: TABLE authors; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON TABLE public.authors IS 'who writes, it''s them';


--
-- Name: COLUMN authors.name; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.authors.name IS 'say \ it';


--
-- Name: authors_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.authors_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: authors_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.authors_id_seq OWNED BY public.authors.id;


--
-- Name: codes; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.codes (
    code character varying(36) NOT NULL,
    n integer NOT NULL
);


--
-- Name: COLUMN codes.code; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON COLUMN public.codes.code IS 'the key';


--
-- Name: codes_n_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.codes_n_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: codes_n_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.codes_n_seq OWNED BY public.codes.n;


--
-- Name: ints; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.ints (
    id integer NOT NULL,
    a integer
);


--
-- Name: joins; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.joins (
    author_id bigint,
    post_id uuid,
    a bigint,
    b character varying
);


--
-- Name: pairs; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.pairs (
    a bigint NOT NULL,
    b character varying NOT NULL
);


--
-- Name: posts; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.posts (
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    author_id bigint NOT NULL,
    editor_id bigint,
    thing_type character varying NOT NULL,
    thing_id bigint NOT NULL,
    created_at timestamp(6) without time zone NOT NULL,
    updated_at timestamp(6) without time zone NOT NULL
);


--
-- Name: schema_migrations; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.schema_migrations (
    version character varying NOT NULL
);


--
-- Name: serials; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.serials (
    id integer NOT NULL
);


--
-- Name: serials_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

CREATE SEQUENCE public.serials_id_seq
    AS integer
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;


--
-- Name: serials_id_seq; Type: SEQUENCE OWNED BY; Schema: public; Owner: -
--

ALTER SEQUENCE public.serials_id_seq OWNED BY public.serials.id;


--
-- Name: invoices id; Type: DEFAULT; Schema: billing; Owner: -
--

ALTER TABLE ONLY billing.invoices ALTER COLUMN id SET DEFAULT nextval('billing.invoices_id_seq'::regclass);


--
-- Name: authors id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.authors ALTER COLUMN id SET DEFAULT nextval('public.authors_id_seq'::regclass);


--
-- Name: codes n; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.codes ALTER COLUMN n SET DEFAULT nextval('public.codes_n_seq'::regclass);


--
-- Name: serials id; Type: DEFAULT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.serials ALTER COLUMN id SET DEFAULT nextval('public.serials_id_seq'::regclass);


--
-- Name: invoices invoices_pkey; Type: CONSTRAINT; Schema: billing; Owner: -
--

ALTER TABLE ONLY billing.invoices
    ADD CONSTRAINT invoices_pkey PRIMARY KEY (id);


--
-- Name: ar_internal_metadata ar_internal_metadata_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ar_internal_metadata
    ADD CONSTRAINT ar_internal_metadata_pkey PRIMARY KEY (key);


--
-- Name: authors authors_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.authors
    ADD CONSTRAINT authors_pkey PRIMARY KEY (id);


--
-- Name: codes codes_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.codes
    ADD CONSTRAINT codes_pkey PRIMARY KEY (code);


--
-- Name: authors excl_rails_17759f75cf; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.authors
    ADD CONSTRAINT excl_rails_17759f75cf EXCLUDE USING gist (tr WITH &&, age WITH =) WHERE ((ok IS TRUE)) DEFERRABLE INITIALLY DEFERRED;


--
-- Name: ints ints_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.ints
    ADD CONSTRAINT ints_pkey PRIMARY KEY (id);


--
-- Name: authors no_overlap; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.authors
    ADD CONSTRAINT no_overlap EXCLUDE USING gist (r WITH &&);


--
-- Name: pairs pairs_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.pairs
    ADD CONSTRAINT pairs_pkey PRIMARY KEY (a, b);


--
-- Name: posts posts_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.posts
    ADD CONSTRAINT posts_pkey PRIMARY KEY (id);


--
-- Name: schema_migrations schema_migrations_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.schema_migrations
    ADD CONSTRAINT schema_migrations_pkey PRIMARY KEY (version);


--
-- Name: serials serials_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.serials
    ADD CONSTRAINT serials_pkey PRIMARY KEY (id);


--
-- Name: authors uniq_big; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.authors
    ADD CONSTRAINT uniq_big UNIQUE (big) DEFERRABLE INITIALLY DEFERRED;


--
-- Name: authors uniq_rails_41bb7ca6f2; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.authors
    ADD CONSTRAINT uniq_rails_41bb7ca6f2 UNIQUE (age, big);


--
-- Name: inv_author; Type: INDEX; Schema: billing; Owner: -
--

CREATE INDEX inv_author ON billing.invoices USING btree (author_id);


--
-- Name: by_age; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX by_age ON public.authors USING btree (age DESC, big DESC NULLS LAST);


--
-- Name: by_lower; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX by_lower ON public.authors USING btree (lower((name)::text));


--
-- Name: by_name; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX by_name ON public.authors USING btree (name) WHERE (ok IS TRUE);


--
-- Name: gin; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX gin ON public.authors USING gin (jb jsonb_path_ops);


--
-- Name: INDEX gin; Type: COMMENT; Schema: public; Owner: -
--

COMMENT ON INDEX public.gin IS 'what for';


--
-- Name: inc; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX inc ON public.authors USING btree (email) INCLUDE (age);


--
-- Name: index_posts_on_author_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX index_posts_on_author_id ON public.posts USING btree (author_id);


--
-- Name: index_posts_on_editor_id; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX index_posts_on_editor_id ON public.posts USING btree (editor_id);


--
-- Name: index_posts_on_thing; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX index_posts_on_thing ON public.posts USING btree (thing_type, thing_id);


--
-- Name: nnd; Type: INDEX; Schema: public; Owner: -
--

CREATE UNIQUE INDEX nnd ON public.authors USING btree (email, age) NULLS NOT DISTINCT;


--
-- Name: trgm; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX trgm ON public.authors USING gin (name public.gin_trgm_ops);


--
-- Name: invoices fk_rails_3de93441be; Type: FK CONSTRAINT; Schema: billing; Owner: -
--

ALTER TABLE ONLY billing.invoices
    ADD CONSTRAINT fk_rails_3de93441be FOREIGN KEY (author_id) REFERENCES public.authors(id);


--
-- Name: joins fk_pair; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.joins
    ADD CONSTRAINT fk_pair FOREIGN KEY (a, b) REFERENCES public.pairs(a, b);


--
-- Name: posts fk_rails_04d13ef8c7; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.posts
    ADD CONSTRAINT fk_rails_04d13ef8c7 FOREIGN KEY (author_id) REFERENCES public.authors(id);


--
-- Name: joins fk_rails_25dcf67c9e; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.joins
    ADD CONSTRAINT fk_rails_25dcf67c9e FOREIGN KEY (post_id) REFERENCES public.posts(id) NOT VALID;


--
-- Name: posts fk_rails_9db77e9c1f; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.posts
    ADD CONSTRAINT fk_rails_9db77e9c1f FOREIGN KEY (editor_id) REFERENCES public.authors(id) ON DELETE SET NULL;


--
-- Name: joins fk_rails_d772c3014e; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.joins
    ADD CONSTRAINT fk_rails_d772c3014e FOREIGN KEY (author_id) REFERENCES public.authors(id) ON UPDATE RESTRICT ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED;


--
-- PostgreSQL database dump complete
--

\unrestrict JCm9WfAdXKXfenGzQV3wQiwjWpg019x7l1vkmRBxndkXwfZaaZXeEl0n4H4dkAc

SET search_path TO "$user", public;

INSERT INTO "schema_migrations" (version) VALUES
('20240801000001');
