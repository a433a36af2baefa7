import { execFile } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { JsonObject, RecordChange } from '../../../engine/index.ts'
import type { Verdict } from '../../../plugins/audit/verify.ts'
import { auditing } from '../../support/answers.ts'
import { startAdmin, viewOf } from '../../support/admin.ts'
import type { AdminGateway } from '../../support/admin.ts'
import { startGateway } from '../../support/gateway.ts'
import { postgres } from '../../support/services.ts'
import { tablesOf } from '../../support/tables.ts'
import { until } from '../../support/until.ts'

const run = promisify(execFile)
const sluice = join(import.meta.dirname, '..', '..', '..', 'engine', 'bin', 'sluice.cjs')

type Row = JsonObject & {
  readonly sequence: number
  readonly at: string
  readonly previous: string
  readonly hash: string
}

describe('admin/audit: routes', function () {
  this.timeout(600_000)

  for (const dialect of ['sqlite', 'postgres'] as const)
    describe(dialect, () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-audit-'))
      after(() => rmSync(folder, { recursive: true }))
      let gateway: AdminGateway
      let databaseUrl = ''
      const list = async (query = '') => {
        const { status, body } = await gateway.asAdmin(`GET /api/logs/audit${query}`)
        expect(status, JSON.stringify(body)).to.equal(200)
        return body as unknown as { readonly data: readonly Row[]; readonly next_cursor: string | null }
      }
      const change = (one: RecordChange) =>
        gateway.engine.live.changeAll(() => [one], {
          principal: { kind: 'member', id: gateway.admin.id, name: 'admin', role: 'admin' },
          id: 'request-1',
          address: '192.0.2.7',
        })
      const target = { type: 'provider', id: 'made', name: 'made' }
      before(async function () {
        if (dialect === 'postgres') databaseUrl = (await postgres(this)).url
        const database = dialect === 'postgres' ? { database: databaseUrl } : {}
        gateway = await startAdmin({ folder, environment: { SLUICE_SECRET: 'a secret of this test' }, ...database })
        await change({
          kind: 'create',
          type: 'provider',
          value: {
            name: 'made',
            type: 'compatible',
            base_url: 'http://198.41.0.4:9/v1',
            api_key: 'sk-of-the-provider-abcd',
          },
        })
        await change({
          kind: 'change',
          type: 'provider',
          name: 'made',
          patch: { api_key: 'sk-of-the-provider-wxyz', base_url: 'http://198.41.0.4:8/v1' },
        })
        await change({ kind: 'change', type: 'provider', name: 'made', patch: {} })
        await change({ kind: 'delete', type: 'provider', name: 'made' })
        await change({ kind: 'change', type: 'section', name: 'security', patch: { session_idle: '30m' } })
        await change({ kind: 'delete', type: 'section', name: 'security' })
      })
      after(() => gateway?.close())

      it('lists who changed what, without secrets, and nothing of a change without a difference', async () => {
        const { data, next_cursor } = await list('?sort=sequence&target=made&target=security')
        expect(next_cursor).to.equal(null)
        const security = { type: 'settings', id: 'security', name: 'security' }
        expect(data.map(({ action, target: of }) => [action, of])).to.deep.equal([
          ['provider.create', target],
          ['provider.update', target],
          ['provider.delete', target],
          ['settings.update', security],
          ['settings.reset', security],
        ])
        const [made, changed, deleted, set, reset] = data.map(({ changes }) => changes)
        expect(made).to.deep.include({
          name: { from: null, to: 'made' },
          'config.base_url': { from: null, to: 'http://198.41.0.4:9/v1' },
          'config.api_key': { from: null, to: '[secret]' },
        })
        expect(changed).to.deep.equal({
          'config.base_url': { from: 'http://198.41.0.4:9/v1', to: 'http://198.41.0.4:8/v1' },
          'config.api_key': { from: '[secret]', to: '[secret]' },
        })
        expect(deleted).to.deep.include({
          name: { from: 'made', to: null },
          'config.base_url': { from: 'http://198.41.0.4:8/v1', to: null },
          'config.api_key': { from: '[secret]', to: null },
        })
        expect([set, reset]).to.deep.equal([
          { session_idle: { from: '1h', to: '30m' } },
          { session_idle: { from: '30m', to: '1h' } },
        ])
      })

      it('shows rows of twelve fields, of which anyone can verify the hash', async () => {
        const { data } = await list('?sort=sequence')
        let previous = '0'.repeat(64)
        for (const [index, row] of data.entries()) {
          expect(Object.keys(row).sort()).to.deep.equal([
            'action',
            'actor',
            'address',
            'at',
            'changes',
            'details',
            'hash',
            'outcome',
            'previous',
            'request_id',
            'sequence',
            'target',
          ])
          const { hash: given, previous: link, ...body } = row
          const made = hash('sha256', `sluice-audit-1\n${previous}\n${canonical(body)}`)
          expect([row.sequence, link, given]).to.deep.equal([index + 1, previous, made])
          previous = given
        }
        const update = data.find(({ action }) => action === 'provider.update')
        expect(update).to.deep.include({
          actor: { type: 'member', id: gateway.admin.id, name: 'admin' },
          address: '192.0.2.7',
          request_id: 'request-1',
          outcome: 'ok',
          details: {},
        })
        expect(update?.['at']).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      })

      it('filters by time, actor, action, target and outcome, and pages without gaps', async () => {
        const all = (await list()).data
        expect(all.map(({ sequence }) => sequence)).to.deep.equal(all.map((_, index) => all.length - index))
        const actions = (rows: readonly Row[]) => rows.map(({ action }) => action)
        expect(actions((await list('?action=provider.delete&action=provider.create')).data)).to.deep.equal([
          'provider.delete',
          'provider.create',
        ])
        expect((await list(`?actor=${gateway.admin.id}&target=security`)).data).to.have.length(2)
        expect((await list(`?actor=${gateway.viewer.id}`)).data).to.deep.equal([])
        expect((await list('?sequence=2')).data.map(({ sequence }) => sequence)).to.deep.equal([2])
        expect((await list('?sequence=9999')).data).to.deep.equal([])
        for (const wrong of ['1.5', '99999999999', 'two']) {
          const { status, code, param } = await gateway.asAdmin(`GET /api/logs/audit?sequence=${wrong}`)
          expect([status, code, param]).to.deep.equal([422, 'invalid_field', 'sequence'])
        }
        expect((await list('?outcome=refused&target=made')).data).to.deep.equal([])
        const without = async (query: string, left: (row: Row) => boolean) =>
          expect((await list(query)).data, query).to.deep.equal(all.filter(left))
        const named = ({ target }: Row) => Object.values((target ?? {}) as JsonObject)
        const both = ['provider.delete', 'provider.create']
        await without('?not_action=provider.delete', ({ action }) => action !== 'provider.delete')
        await without(
          `?${both.map((action) => `not_action=${action}`).join('&')}`,
          ({ action }) => !both.includes(action as string),
        )
        await without(`?not_actor=${gateway.admin.id}`, ({ actor }) => (actor as JsonObject)['id'] !== gateway.admin.id)
        await without('?not_outcome=ok', ({ outcome }) => outcome !== 'ok')
        await without('?not_target=security', (row) => !named(row).includes('security'))
        await without('?not_target=made', (row) => !named(row).includes('made'))
        const [third] = (await list('?action=provider.delete')).data
        const at = encodeURIComponent(third?.at ?? '')
        const [since, until] = [(await list(`?since=${at}`)).data, (await list(`?until=${at}`)).data]
        expect(since.some(({ sequence }) => sequence === third?.sequence)).to.equal(true)
        expect(until.some(({ sequence }) => sequence === third?.sequence)).to.equal(false)
        expect(since.length + until.length).to.equal(all.length)
        const paged: Row[] = []
        for (let cursor: string | null = ''; cursor !== null;) {
          const page = await list(`?limit=2${cursor && `&cursor=${cursor}`}`)
          paged.push(...page.data)
          cursor = page.next_cursor
        }
        expect(paged).to.deep.equal(all)
      })

      it('refuses unknown and invalid parameters, strangers, keys and viewers', async () => {
        for (const [query, code, param] of [
          ['colour=red', 'unknown_field', 'colour'],
          ['sort=at', 'invalid_field', 'sort'],
          ['limit=0', 'invalid_field', 'limit'],
          ['since=yesterday', 'invalid_field', 'since'],
          ['outcome=maybe', 'invalid_field', 'outcome'],
          ['not_outcome=maybe', 'invalid_field', 'not_outcome'],
          ['not_since=yesterday', 'unknown_field', 'not_since'],
          ['cursor=nonsense', 'invalid_cursor', 'cursor'],
        ] as const) {
          const answer = await gateway.asAdmin(`GET /api/logs/audit?${query}`)
          expect([answer.status, answer.code, answer.param]).to.deep.equal([422, code, param])
        }
        for (const route of ['GET /api/logs/audit', 'GET /api/logs/audit/verify', 'POST /api/logs/audit/verify']) {
          expect((await gateway.asViewer(route)).code, route).to.equal('forbidden')
          expect((await gateway.asNobody(route)).code, route).to.equal('invalid_token')
          expect((await gateway.asKey(route)).code, route).to.equal('invalid_token')
        }
        expect((await gateway.asAdmin('GET /api/logs/audit/verify?deep=1')).code).to.equal('unknown_field')
      })

      it('verifies the rows and the checkpoints, also those of shipped logs', async () => {
        const { status, body } = await gateway.asAdmin('GET /api/logs/audit/verify')
        const [last] = (await list('?limit=1')).data
        expect([status, Object.keys(body)]).to.deep.equal([
          200,
          ['ok', 'rows', 'head', 'first_bad', 'checkpoints', 'took_ms'],
        ])
        const { took_ms: took, ...verdict } = body as unknown as Verdict
        expect(took).to.be.a('number')
        expect(verdict).to.deep.include({
          ok: true,
          rows: last?.sequence,
          head: { sequence: last?.sequence, hash: last?.hash },
          first_bad: null,
        })
        expect(verdict.checkpoints.bad).to.equal(0)

        const read = verdict.checkpoints.read
        const trail = viewOf(gateway.engine, 'audit')
        await trail.record({ action: 'thing.update' })
        const row = (await list('?limit=1')).data[0] as Row
        const mark = await tablesOf(gateway.engine.database)
          .selectFrom('audit_marks')
          .select('mac')
          .where('sequence', '=', row.sequence)
          .executeTakeFirstOrThrow()
        const checkpoint = { sequence: row.sequence, hash: row.hash, at: row['at'], mac: mark.mac }
        const compared = await gateway.asAdmin('POST /api/logs/audit/verify', { checkpoints: [checkpoint] })
        expect([compared.body['ok'], compared.body['checkpoints']]).to.deep.equal([true, { read: read + 2, bad: 0 }])
        const forged = await gateway.asAdmin('POST /api/logs/audit/verify', {
          checkpoints: [{ ...checkpoint, hash: '0'.repeat(64) }],
        })
        expect([forged.status, forged.body['ok'], forged.body['first_bad']]).to.deep.equal([
          200,
          false,
          { sequence: row.sequence, reason: 'checkpoint_mismatch' },
        ])
        for (const [wrong, code, param] of [
          [{}, 'missing_field', 'checkpoints'],
          [{ checkpoints: [{ ...checkpoint, sequence: 'x' }] }, 'invalid_field', 'checkpoints[0].sequence'],
          [{ checkpoints: [{ ...checkpoint, more: 1 }] }, 'unknown_field', 'checkpoints[0].more'],
        ] as const) {
          const answer = await gateway.asAdmin('POST /api/logs/audit/verify', wrong)
          expect([answer.status, answer.code, answer.param]).to.deep.equal([422, code, param])
        }
      })

      it('does nothing without a row: a change that cannot be audited is 503 and undone', async () => {
        const { database } = gateway.engine
        const before = [await database.rows('select * from record_revision'), gateway.engine.live.status.version]
        await tablesOf(database).schema.alterTable('audit').renameTo('audit_away').execute()
        try {
          const value = { name: 'lost', type: 'echo' }
          const failed = await change({ kind: 'create', type: 'provider', value }).catch((error: unknown) => error)
          expect(failed).to.include({ code: 'store_unavailable' })
          expect(await database.rows(`select * from records where name = 'lost'`)).to.deep.equal([])
          expect([
            await database.rows('select * from record_revision'),
            gateway.engine.live.status.version,
          ]).to.deep.equal(before)
        } finally {
          await tablesOf(database).schema.alterTable('audit_away').renameTo('audit').execute()
        }
        expect((await viewOf(gateway.engine, 'audit').verify()).ok).to.equal(true)
      })

      it('notes a new configuration of the files, once', async () => {
        const { live } = gateway.engine
        const from = live.status.version
        expect(await live.reload()).to.deep.equal([])
        const file = join(folder, 'sluice.yaml')
        writeFileSync(file, `${readFileSync(file, 'utf8')}# changed\n`)
        expect(await live.reload()).to.deep.equal([])
        const to = live.status.version
        await until(async () => (await list('?action=config.reload')).data.length > 0)
        const { data } = await list('?action=config.reload')
        expect(data).to.have.length(1)
        expect(data[0]).to.deep.include({
          actor: { type: 'system', id: null, name: null },
          address: null,
          request_id: null,
          target: null,
          details: { from, to },
        })
      })

      it('has one row for a reload of several processes', async () => {
        const other = await startGateway({
          folder,
          environment: { SLUICE_SECRET: 'a secret of this test' },
          ...(dialect === 'postgres' ? { database: databaseUrl } : {}),
        })
        try {
          const before = (await list('?action=config.reload')).data.length
          const file = join(folder, 'sluice.yaml')
          await gateway.engine.live.reload()
          writeFileSync(file, `${readFileSync(file, 'utf8')}# for both\n`)
          await Promise.all([gateway, other].map(({ engine }) => engine.live.reload()))
          // Rows of reloads that were skipped cannot be waited for, but they stand before these.
          for (const { engine } of [gateway, other]) await viewOf(engine, 'audit').record({ action: 'thing.update' })
          await until(async () => (await list('?action=config.reload')).data.length > before)
          const [first, second] = (await list('?action=config.reload')).data
          expect(first?.['details']).to.not.deep.equal(second?.['details'])
        } finally {
          await other.close()
        }
      })

      it('notes a viewer who tries to write, once per action and minute, and nothing of one who reads', async () => {
        const viewer = await gateway.addMember()
        const refused = async () => (await list(`?action=access.refused&actor=${viewer.id}`)).data
        for (let time = 0; time < 5; time++)
          expect((await viewer.ask('POST /api/logs/audit/verify', {})).status).to.equal(403)
        expect((await viewer.ask('GET /api/logs/audit')).status).to.equal(403)
        const rows = await refused()
        // A minute may end meanwhile.
        expect(rows).to.have.length.within(1, 2)
        expect(rows[0]).to.deep.include({
          actor: { type: 'member', id: viewer.id, name: viewer.username },
          outcome: 'refused',
          target: null,
          changes: {},
          details: { action: 'compare-checkpoints', code: 'forbidden' },
        })
        expect(rows[0]?.['request_id']).to.be.a('string')
        expect(rows[0]?.['address']).to.be.a('string')
      })

      it('notes who tries to write before changing a password that must be changed', async () => {
        const member = await gateway.addMember({ role: 'admin', must_change_password: 1 })
        expect((await member.ask('POST /api/logs/audit/verify', {})).code).to.equal('password_change_required')
        expect((await member.ask('GET /api/logs/audit')).code).to.equal('password_change_required')
        const rows = (await list(`?action=access.refused&actor=${member.id}`)).data
        expect(rows.map(({ details }) => details)).to.deep.equal([
          { action: 'compare-checkpoints', code: 'password_change_required' },
        ])
      })

      it('fails a test that writes a record without a row, but not one that writes nothing', async () => {
        const [records, section] = ['/api/config/providers', '/api/config/server/security']
        const write = async (route: string, body?: unknown) => {
          const [method = '', path = ''] = route.split(' ')
          const requireRow = await auditing(gateway.engine, method, path)
          const { status, headers } = await gateway.asAdmin(route, body)
          expect(status).to.be.within(200, 204)
          await requireRow?.(headers.get('x-request-id') ?? '')
          return requireRow?.('another request').catch(String)
        }
        const missing = (action: string, record: string) =>
          `Error: ${action} has written a ${record}, and the audit trail has no row of it`
        const made = { name: 'made%', type: 'compatible', base_url: 'http://198.41.0.4:9/v1' }
        expect(await write(`POST ${records}`, made)).to.equal(missing('create-provider', 'provider'))
        expect(await write(`PATCH ${records}/made%25`, made)).to.equal(undefined)
        const patch = { base_url: 'http://198.41.0.4:8/v1' }
        expect(await write(`PATCH ${records}/made%25`, patch)).to.equal(missing('change-provider', 'provider'))
        expect(await write(`DELETE ${records}/made%25`)).to.equal(missing('delete-provider', 'provider'))
        expect(await write(`DELETE ${section}`)).to.equal(undefined)
        expect(await write('POST /api/api-keys', { name: 'made' })).to.equal(
          'Error: create-api-key has appended no row to the audit trail',
        )
        expect(await write(`PATCH ${section}`, { session_idle: '30m' })).to.equal(missing('change-section', 'section'))
        expect(await write(`DELETE ${section}`)).to.equal(missing('reset-section', 'section'))
      })
    })

  it('is verified by a command, with a gateway that runs and without', async () => {
    const own = mkdtempSync(join(tmpdir(), 'sluice-audit-command-'))
    const gateway = await startAdmin({ folder: own, environment: { SLUICE_SECRET: 'a secret of this test' } })
    const right = { SLUICE_SECRET: 'a secret of this test' }
    const verify = async (more: readonly string[] = [], given: NodeJS.ProcessEnv = right) => {
      const environment = { ...process.env, ...given }
      const command = [sluice, 'audit', 'verify', '--config', join(own, 'sluice.yaml'), ...more]
      return run(process.execPath, command, { env: environment, cwd: own }).then(
        ({ stdout }) => ({ code: 0, stdout }),
        ({ code, stdout }: { code: number; stdout: string }) => ({ code, stdout }),
      )
    }
    try {
      await viewOf(gateway.engine, 'audit').record({ action: 'thing.update' })
      const shown = await verify()
      expect([shown.code, shown.stdout]).to.satisfy(
        ([code, text]: [number, string]) => code === 0 && text.includes('The audit trail is whole.'),
      )
      for (const secret of [undefined, 'another secret of this test']) {
        const foreign = await verify([], { SLUICE_SECRET: secret })
        expect([foreign.code, foreign.stdout.split('\n', 1)]).to.deep.equal([
          2,
          ['The audit trail cannot be verified: this is not the master secret that signed it.'],
        ])
        expect(foreign.stdout).to.match(/^not proven +no signature is of this secret.*\(wrong_secret\)$/m)
        expect(foreign.stdout).to.match(/^checkpoints +\d+ read, 0 bad$/m)
      }
      // The tail of the rows, their marks and the file, all at once.
      const file = join(own, 'audit.checkpoints')
      const lines = readFileSync(file, 'utf8')
      rmSync(file)
      const unproven = await verify()
      expect([unproven.code, unproven.stdout.split('\n', 1)]).to.deep.equal([
        2,
        ['The rows fit, but nothing proves that none is missing at the end.'],
      ])
      const { body } = await gateway.asAdmin('GET /api/logs/audit/verify')
      const { ok, first_bad: flaw } = body as unknown as Verdict
      expect([ok, flaw?.reason]).to.deep.equal([false, 'unproven_tail'])
      writeFileSync(file, lines)
      await gateway.engine.database.rows(`update audit set outcome = 'refused' where sequence = 1`)
    } finally {
      await gateway.close()
    }
    const told = await verify(['--json'])
    const { took_ms: _, ...verdict } = JSON.parse(told.stdout) as Verdict
    expect([told.code, verdict.ok, verdict.first_bad]).to.deep.equal([
      1,
      false,
      { sequence: 1, reason: 'column_mismatch' },
    ])
    rmSync(own, { recursive: true })
  })
})

/** Canonical JSON (RFC 8785) of values without numbers that need care. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([left], [right]) => (left < right ? -1 : 1)))
      : member,
  )
}
