import { BlockList, isIP } from 'node:net'

/** IP addresses and ranges (`10.0.0.0/8`, `::1`) as one list; undefined if a text is neither. */
export function rangesOf(texts: readonly string[]): BlockList | undefined {
  const list = new BlockList()
  for (const text of texts) {
    const [address = '', bits, ...more] = text.split('/')
    const family = isIP(address)
    const longest = family === 4 ? 32 : 128
    if (family === 0 || more.length > 0) return undefined
    if (bits === undefined) list.addAddress(address, `ipv${family === 4 ? 4 : 6}`)
    else if (/^\d{1,3}$/.test(bits) && Number(bits) <= longest)
      list.addSubnet(address, Number(bits), `ipv${family === 4 ? 4 : 6}`)
    else return undefined
  }
  return list
}

/** Whether an address is in a list. An IPv4 address may be written as an IPv6 address (RFC 4291, section 2.5.5.2). */
export function isWithin(address: string, list: BlockList): boolean {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '')
  const family = isIP(plain)
  return family !== 0 && list.check(plain, family === 4 ? 'ipv4' : 'ipv6')
}
