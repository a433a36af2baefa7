import { createCipheriv, hash, randomBytes } from 'node:crypto'
import { Client } from 'pg'

/** The tables of LiteLLM 1.110 with the columns that matter here, as its Prisma schema makes them. */
const tables = `
create table "LiteLLM_BudgetTable" (budget_id text primary key, max_budget double precision, soft_budget double precision,
  max_parallel_requests integer, tpm_limit bigint, rpm_limit bigint, model_max_budget jsonb, budget_duration text,
  budget_reset_at timestamp(3), allowed_models text[] default array[]::text[], created_at timestamp(3) default now(), created_by text default 'x');
create table "LiteLLM_OrganizationTable" (organization_id text primary key, organization_alias text, budget_id text,
  models text[], spend double precision default 0);
create table "LiteLLM_TeamTable" (team_id text primary key, team_alias text, organization_id text, models text[],
  max_budget double precision, spend double precision default 0, tpm_limit bigint, rpm_limit bigint,
  max_parallel_requests integer, blocked boolean default false, metadata jsonb default '{}', model_max_budget jsonb default '{}');
create table "LiteLLM_ProjectTable" (project_id text primary key, team_id text, models text[], blocked boolean default false);
create table "LiteLLM_UserTable" (user_id text primary key, user_role text, max_budget double precision, models text[], spend double precision default 0,
  metadata jsonb default '{}');
create table "LiteLLM_EndUserTable" (user_id text primary key, alias text, spend double precision default 0, budget_id text);
create table "LiteLLM_TeamMembership" (user_id text, team_id text, spend double precision default 0, budget_id text);
create table "LiteLLM_VerificationToken" (token text primary key, key_name text, key_alias text, soft_budget_cooldown boolean default false,
  spend double precision default 0, expires timestamp(3), models text[], aliases jsonb default '{}', config jsonb default '{}',
  user_id text, team_id text, project_id text, permissions jsonb default '{}', max_parallel_requests integer, metadata jsonb default '{}',
  blocked boolean, tpm_limit bigint, rpm_limit bigint, max_budget double precision, budget_duration text,
  budget_reset_at timestamp(3), allowed_cache_controls text[] default array[]::text[], allowed_routes text[] default array[]::text[],
  policies text[] default array[]::text[], model_spend jsonb default '{}', model_max_budget jsonb default '{}', router_settings jsonb,
  budget_id text, organization_id text, object_permission_id text, auto_rotate boolean default false, key_type text,
  created_at timestamp(3) default '2026-01-01', created_by text);
create table "LiteLLM_DeprecatedVerificationToken" (id text primary key, token text, active_token_id text, revoke_at timestamp(3));
create table "LiteLLM_DeletedVerificationToken" (id text primary key, token text);
create table "LiteLLM_ProxyModelTable" (model_id text primary key, model_name text, litellm_params jsonb, model_info jsonb,
  blocked boolean default false);
create table "LiteLLM_CredentialsTable" (credential_id text primary key, credential_name text, credential_values jsonb, credential_info jsonb);
create table "LiteLLM_Config" (param_name text primary key, param_value jsonb);
create table "LiteLLM_SpendLogs" (request_id text primary key, spend double precision);
`

/** The tables of an early version: keys with few columns, and nothing beside them. */
const earlyTables = `
create table "LiteLLM_VerificationToken" (token text primary key, spend double precision default 0, expires timestamp(3),
  models text[], user_id text, max_parallel_requests integer, metadata jsonb default '{}', tpm_limit bigint, rpm_limit bigint);
`

/** A database of LiteLLM that a test fills. */
export interface LitellmTables {
  add(table: string, row: Readonly<Record<string, unknown>>): Promise<void>
  query(text: string): Promise<unknown>
  close(): Promise<void>
}

export async function litellmTables(url: string, isEarly = false): Promise<LitellmTables> {
  const client = new Client(url)
  client.on('error', () => undefined)
  await client.connect()
  await client.query(isEarly ? earlyTables : tables)
  return {
    async add(table, row) {
      const columns = Object.keys(row)
      const values = Object.values(row).map((value) =>
        typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : value,
      )
      const places = columns.map((_, at) => `$${at + 1}`).join(', ')
      const names = columns.map((name) => `"${name}"`).join(', ')
      await client.query(`insert into "LiteLLM_${table}" (${names}) values (${places})`, values)
    },
    query: (text) => client.query(text),
    close: () => client.end(),
  }
}

/** What LiteLLM stores of a key. */
export function stored(text: string): { token: string; key_name: string } {
  return { token: hash('sha256', text), key_name: `sk-...${text.slice(-4)}` }
}

/** The salt key with which the texts of a test are sealed. */
export const salt = 'salt-of-the-test'

/** A text as newer versions seal it. */
export function sealed(text: string): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', hash('sha256', salt, 'buffer'), nonce)
  const bytes = Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()])
  return `v2:gcm:${bytes.toString('base64url')}`
}

/** Texts as older versions sealed them with the same salt key, in a secretbox. */
export const boxed = {
  'openai/gpt-4o-mini': 'AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBMeHpqqV78CCucB2aU3SCkKT_DcquyLf8xnAO3G9sXTAj4A',
  'sk-from-the-database': 'AgICAgICAgICAgICAgICAgICAgICAgICyrW2s8uELI6gZLBBqpoRrydBnEwcP_iMQymoXn6WyAKsqxSh',
} as const
