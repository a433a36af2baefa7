import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { expect } from 'chai'
import { pino } from 'pino'
import type { Notice } from '../../plugins/notifications/cause.ts'
import type { Target } from '../../plugins/notifications/settings.ts'
import type { DeliveriesTable } from '../../plugins/notifications/table.ts'
import { Targets } from '../../plugins/notifications/targets.ts'
import { until } from '../support/until.ts'
import { receiver, secret } from './receiver.ts'

type Delivered = Pick<DeliveriesTable, 'message' | 'target' | 'state'>

const noticeOf = (at: number): Notice => ({
  message: `msg_${at}`,
  id: `${at}`,
  cause: 'expires',
  key: `expires ${at}`,
  subject: 'A key ends',
  facts: {},
  path: '/keys',
  state: 'begin',
  at,
  since: at,
})

describe('targets of notifications', () => {
  it('that do not answer lose their own oldest notices, and silence no other target', async () => {
    const ops = await receiver()
    const open = new Set<Socket>()
    const silent = createServer((socket) => void open.add(socket.on('error', () => undefined)))
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const noted: Delivered[] = []
    const kept = {
      delivered: (what: Delivered) => Promise.resolve(void noted.push(what)),
      tried: () => Promise.resolve(),
    }
    const targets = new Targets({ log: pino({ level: 'silent' }), version: '1.0.0' }, kept)
    const common: Omit<Target, 'name' | 'url'> = { secret, form: 'standard', causes: ['all'] }
    try {
      targets.follow(
        [
          { name: 'silent', url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, ...common },
          { name: 'ops', url: ops.url, ...common },
        ],
        'http://gateway',
      )
      // The first is said again behind the post that is under way.
      const again = { ...noticeOf(1), message: 'msg_again', state: 'end' as const }
      targets.queue(noticeOf(1), 'silent')
      targets.queue(again, 'silent')
      for (let at = 2; at < 1_000; at++) targets.queue(noticeOf(at), 'silent')
      targets.queue(noticeOf(1), 'ops')
      await until(() => ops.received.length === 1)
      expect(noted.filter(({ target }) => target === 'silent')).to.deep.equal([])
      targets.queue(noticeOf(1_000), 'silent')
      targets.queue(noticeOf(1_001), 'silent')
      for (const socket of open) socket.destroy()
      silent.close()
      const givenUp = () => noted.filter(({ state }) => state === 'given_up').map(({ message }) => message)
      await until(() => givenUp().length === 2)
      expect(givenUp()).to.deep.equal(['msg_1', 'msg_again'])
      expect(noted.filter(({ target }) => target === 'ops').map(({ state }) => state)).to.deep.equal(['delivered'])
    } finally {
      await targets.close()
      for (const socket of open) socket.destroy()
      silent.close()
      await ops.close()
    }
  })
})
