import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect } from 'chai'
import type { Checkpoint } from '../../../plugins/audit/checkpoints.ts'
import { openAudit } from '../../support/audit.ts'
import type { AuditTrail } from '../../support/audit.ts'
import { postgres } from '../../support/services.ts'

const run = promisify(execFile)

describe('admin/audit: appending', function () {
  this.timeout(600_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-appending-'))
  after(() => rmSync(folder, { recursive: true }))
  const linesOf = (path: string) =>
    readFileSync(join(path, 'audit.checkpoints'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Checkpoint)

  for (const dialect of ['sqlite', 'postgres'] as const)
    describe(dialect, () => {
      let url: string
      let trail: AuditTrail
      const own = join(folder, dialect)
      before(async function () {
        if (dialect === 'sqlite') mkdirSync(own)
        url = dialect === 'sqlite' ? `sqlite:${join(own, 'a.db')}` : (await postgres(this)).url
        trail = await openAudit(url, own)
      })
      after(() => trail?.close())

      it('is done by one process at a time: rows have no gaps, and each has its checkpoint', async () => {
        const each = 60
        const appender = join(import.meta.dirname, 'appender.ts')
        const names = ['first', 'second', 'third']
        await Promise.all(names.map((name) => run(process.execPath, [appender, url, own, name, String(each)])))
        const rows = await trail.database.selectFrom('audit').selectAll().orderBy('sequence').execute()
        expect(rows.map(({ sequence }) => sequence)).to.deep.equal(
          Array.from({ length: 3 * each }, (_, index) => index + 1),
        )
        for (const name of names) expect(rows.filter(({ actor_id: id }) => id === name)).to.have.length(each)
        expect(
          linesOf(own)
            .map(({ sequence, hash }) => ({ sequence, hash }))
            .toSorted((left, right) => left.sequence - right.sequence),
        ).to.deep.equal(rows.map(({ sequence, hash }) => ({ sequence, hash })))
        const { ok, checkpoints } = await trail.view.verify()
        expect([ok, checkpoints]).to.deep.equal([true, { read: 3 * each, bad: 0 }])
      })

      it('leaves neither a row nor a checkpoint behind when the transaction fails', async () => {
        const before = linesOf(own).length
        const failed = trail.database.transaction().execute(async (transaction) => {
          await trail.view.append(transaction, { action: 'thing.update' })
          throw new Error('no')
        })
        expect(await failed.catch((error: Error) => error.message)).to.equal('no')
        await trail.view.record({ action: 'thing.create' })
        expect(linesOf(own)).to.have.length(before + 1)
        expect((await trail.view.verify()).ok).to.equal(true)
      })

      it('rejects with `store_unavailable` when the row cannot be written', async () => {
        await trail.database.schema.alterTable('audit_marks').renameTo('audit_away').execute()
        try {
          const failed = await trail.view.record({ action: 'thing.update' }).catch((error: unknown) => error)
          expect(failed).to.include({ code: 'store_unavailable' })
        } finally {
          await trail.database.schema.alterTable('audit_away').renameTo('audit_marks').execute()
        }
        expect((await trail.view.verify()).ok).to.equal(true)
      })
    })

  describe('checkpoints', () => {
    let trail: AuditTrail
    const own = join(folder, 'checkpoints')
    before(async () => {
      mkdirSync(own)
      trail = await openAudit(`sqlite:${join(own, 'a.db')}`, own)
    })
    after(() => trail.close())

    it('have four fields, a file of their own that others cannot read, and another mac with another secret', async () => {
      await trail.view.record({ action: 'thing.create' })
      const [line] = linesOf(own)
      expect(statSync(join(own, 'audit.checkpoints')).mode & 0o777).to.equal(0o600)
      expect(Object.keys(line ?? {})).to.deep.equal(['sequence', 'hash', 'at', 'mac'])
      const other = await openAudit(`sqlite:${join(own, 'a.db')}`, own, 'the secret of another gateway')
      const { ok, first_bad: flaw, checkpoints } = await other.view.verify()
      await other.close()
      expect([ok, flaw?.reason, checkpoints]).to.deep.equal([false, 'wrong_secret', { read: 1, bad: 0 }])
    })

    it('are kept for the last 10,000 rows', async () => {
      const [line] = linesOf(own)
      const file = join(own, 'audit.checkpoints')
      const earlier = Array.from({ length: 12_000 }, (_, index) => ({ ...line, sequence: index - 12_000 }))
      writeFileSync(file, earlier.map((one) => `${JSON.stringify(one)}\n`).join(''))
      await trail.view.record({ action: 'thing.update' })
      const kept = linesOf(own)
      expect(kept).to.have.length(10_000)
      expect([kept[0]?.sequence, kept.at(-1)?.sequence]).to.deep.equal([-9_999, 2])
      rmSync(file)
    })

    it('go to the process log every 100 rows, and at the end', async () => {
      const own2 = join(folder, 'logged')
      mkdirSync(own2)
      const logged = await openAudit(`sqlite:${join(own2, 'a.db')}`, own2)
      for (let row = 1; row <= 103; row++) await logged.view.record({ action: 'thing.update' })
      await logged.close()
      const told = logged.lines.map((line) => (JSON.parse(line) as { checkpoint?: Checkpoint }).checkpoint)
      const all = linesOf(own2)
      expect(told).to.deep.equal([all[99], all[102]])
    })

    it('that cannot be written are reported, and no change fails because of them', async () => {
      const file = join(own, 'audit.checkpoints')
      mkdirSync(file)
      await trail.view.record({ action: 'thing.update' })
      expect(trail.status()).to.match(/^checkpoints cannot be written: EISDIR/)
      rmSync(file, { recursive: true })
      await trail.view.record({ action: 'thing.update' })
      expect(trail.status()).to.equal(undefined)
      expect(linesOf(own)).to.have.length(1)
      expect((await trail.view.verify()).ok).to.equal(true)
    })
  })
})
