import { throws } from 'node:assert/strict'
import { group } from './check.ts'
import { key } from './rig.ts'

export const refuses = group('refuses settings', (check, checkWhen) => {
  checkWhen({ field: 'headers' }, 'with line breaks in a header or in the key', async (rig) => {
    throws(() => rig.open({ headers: { 'x-a': 'b\r\nx-c: d' } }))
    throws(() => rig.open({ headers: { 'x-a\r\nx-c': 'd' } }))
    throws(() => rig.open({ api_key: `${key}\n` }))
  })

  checkWhen({ field: 'headers' }, 'that would set what belongs to the connection', async (rig) => {
    for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'accept-encoding']) {
      throws(() => rig.open({ headers: { [name]: 'x' } }), /cannot be set/, name)
    }
  })

  check('whose address is none, without repeating it', async (rig) => {
    for (const url of ['ftp://127.0.0.1', 'nonsense', `http://user:${key}@127.0.0.1/v1`, 'http://127.0.0.1/v1#x']) {
      throws(() => rig.openAt(url), /^\w{1,32}: base_url must be/, url)
    }
  })
})
