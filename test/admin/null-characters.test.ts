import { expect } from 'chai'
import { startAdmin } from '../support/admin.ts'
import type { AdminGateway } from '../support/admin.ts'
import { postgres } from '../support/services.ts'

describe('what a database cannot take', () => {
  for (const name of ['SQLite', 'PostgreSQL'])
    describe(`on ${name}`, () => {
      let gateway: AdminGateway
      before(async function () {
        gateway = await startAdmin(name === 'SQLite' ? {} : { database: (await postgres(this)).url })
      })
      after(() => gateway.close())

      const expectAll = async (routes: readonly string[], status: number, body?: object) => {
        for (const route of routes) expect((await gateway.asAdmin(route, body)).status, route).to.equal(status)
      }

      it('is refused in queries', () =>
        expectAll(
          [
            ...['search', 'key', 'parent', 'tag', 'cursor'].map((field) => `GET /api/logs?${field}=%00`),
            ...['usage?model', 'series?model', 'stats?search', 'audit?actor', 'audit?target', 'audit?action'].map(
              (field) => `GET /api/logs/${field}=%00`,
            ),
          ],
          422,
        ))

      it('is the id of nothing', async () => {
        await expectAll(['GET /api/logs/%00', 'GET /api/team/members/%00', 'DELETE /api/team/members/%00'], 404)
        const writes = ['PATCH /api/team/members/%00', 'POST /api/team/members/%00/reset-password']
        await expectAll([...writes, 'POST /api/team/members/%00/reset-budget'], 404, {})
      })

      it('is no name, no tag and no type', async () => {
        for (const text of ['a\0', '\ud800']) {
          await expectAll(['POST /api/api-keys'], 422, { name: text })
          await expectAll(['POST /api/api-keys'], 422, { name: 'tagged', tags: { team: text } })
          await expectAll(['POST /api/logs/cleanup'], 422, { before: '2020-01-01T00:00:00Z', types: [text] })
        }
      })

      it('is rounded, where it is a number', () =>
        expectAll(
          ['min_cost=1.1', 'min_cost=0.0000005', 'min_cost=999999999999999', 'min_duration_ms=1.5'].map(
            (filter) => `GET /api/logs?${filter}`,
          ),
          200,
        ))

      it('is no cursor', async () => {
        for (let time = 0; time < 2; time++) {
          await gateway.post('/v1/chat/completions', { model: 'echo', messages: [{ role: 'user', content: 'a' }] })
          await gateway.asAdmin('POST /api/api-keys', { name: `key-${time}` })
        }
        await gateway.rows(2)
        for (const list of ['/api/logs', '/api/logs/audit']) {
          const { body } = await gateway.asAdmin(`GET ${list}?limit=1`)
          const [binding] = JSON.parse(Buffer.from(body['next_cursor'] as string, 'base64url').toString()) as string[]
          for (const key of [
            ['x', 'a'],
            [null, 'a'],
            [1.5, 'a'],
            [1e300, 'a'],
            [1, 'a\0'],
          ]) {
            const cursor = Buffer.from(JSON.stringify([binding, ...key])).toString('base64url')
            const { code } = await gateway.asAdmin(`GET ${list}?limit=1&cursor=${cursor}`)
            expect(code, `${list} ${JSON.stringify(key)}`).to.equal('invalid_cursor')
          }
        }
      })
    })
})
