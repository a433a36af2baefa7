import { expect } from 'chai'
import { key } from './rig.ts'
import type { Rig } from './rig.ts'

export function refuses(rig: Rig): void {
  describe('refuses settings', () => {
    it('with line breaks in a header or in the key', () => {
      expect(() => rig.open({ headers: { 'x-a': 'b\r\nx-c: d' } })).to.throw()
      expect(() => rig.open({ headers: { 'x-a\r\nx-c': 'd' } })).to.throw()
      expect(() => rig.open({ api_key: `${key}\n` })).to.throw()
    })

    it('that would set what belongs to the connection', () => {
      for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'accept-encoding']) {
        expect(() => rig.open({ headers: { [name]: 'x' } }), name).to.throw(/cannot be set/)
      }
    })

    it('whose address is none, without repeating it', () => {
      for (const url of ['ftp://127.0.0.1', 'nonsense', `http://user:${key}@127.0.0.1/v1`, 'http://127.0.0.1/v1#x']) {
        expect(() => rig.openAt(url), url).to.throw(/^base_url must be/)
      }
    })
  })
}
