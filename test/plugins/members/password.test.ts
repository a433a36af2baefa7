import { argon2Sync } from 'node:crypto'
import { expect } from 'chai'
import type { GatewayError } from '../../../engine/index.ts'
import { commonPasswords } from '../../../plugins/members/common-passwords.ts'
import { Passwords } from '../../../plugins/members/password.ts'
import { checkPassword, randomPassword } from '../../../plugins/members/password-rules.ts'

describe('plugins/members/password', () => {
  const passwords = new Passwords()

  it('hashes with argon2id, 19 MiB, two passes, one lane and a salt of 16 bytes', async () => {
    const [one, other] = [await passwords.hash('ﬁne words'), await passwords.hash('ﬁne words')]
    expect(one).not.to.equal(other)
    const [, algorithm, version, cost, salt = '', hash = ''] = one.split('$')
    expect([algorithm, version, cost]).to.deep.equal(['argon2id', 'v=19', 'm=19456,t=2,p=1'])
    const nonce = Buffer.from(salt, 'base64')
    expect([nonce.length, salt.length, hash.length]).to.deep.equal([16, 22, 43])
    // The ligature of the password is two letters after normalization.
    const given = { message: 'fine words', nonce, parallelism: 1, tagLength: 32, memory: 19_456, passes: 2 }
    expect(argon2Sync('argon2id', given).toString('base64').replace('=', '')).to.equal(hash)
  })

  it('finds a password right by the cost that its hash names', async () => {
    const nonce = Buffer.from('0123456789abcdef')
    const given = { message: 'fine words', nonce, parallelism: 2, tagLength: 16, memory: 64, passes: 3 }
    const text = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')
    const hash = `$argon2id$v=19$m=64,t=3,p=2$${text(nonce)}$${text(argon2Sync('argon2id', given))}`
    expect([await passwords.isRight('ﬁne words', hash), await passwords.isRight('fine word', hash)]).to.deep.equal([
      true,
      false,
    ])
  })

  it('finds no password right where there is no hash, and says of a damaged one that it is', async () => {
    expect(await passwords.isRight('')).to.equal(false)
    const damaged = await passwords.isRight('x', '$argon2id$').catch((error: Error) => error.message)
    expect(damaged).to.equal('the hash of a password is damaged')
  })

  it('hashes two at once, lets 32 wait, and refuses more', async () => {
    const own = new Passwords()
    const settled = await Promise.allSettled(Array.from({ length: 40 }, () => own.isRight('x')))
    const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as GatewayError] : []))
    expect(refused).to.have.length(6)
    for (const { code, failure } of refused) expect([code, failure.retryAfter]).to.deep.equal(['too_many_attempts', 1])
    expect(settled.slice(0, 34).every(({ status }) => status === 'fulfilled')).to.equal(true)
    expect(await own.isRight('x')).to.equal(false)
  })

  it('accepts what is long enough and not easy to guess', async () => {
    const told = async (password: string, least = 12) => {
      const choice = { username: 'ann', least, param: 'password' }
      const checked = checkPassword(password, choice)
      return checked.then(
        () => 'good',
        (error: GatewayError) => `${error.failure.param} ${error.message}`,
      )
    }
    const length = 'password password must have 12 to 256 characters.'
    expect(await told('elevenchars')).to.equal(length)
    expect(await told('twelve chars')).to.equal('good')
    // Counted as characters after normalization: eleven of them, the last two in one code point each.
    expect(await told('ninechars😀😀')).to.equal(length)
    expect(await told('nine chars😀😀')).to.equal('good')
    expect(await told(`${'e\u0301'.repeat(6)}fghij`)).to.equal(length)
    expect(await told('xy'.repeat(128))).to.equal('good')
    expect(await told(`${'xy'.repeat(128)}z`)).to.equal(length)
    expect(await told(`a sentence with \ud800 in it`)).to.equal(
      'password password must not contain half of a character (a lone surrogate).',
    )
    expect(await told('x'.repeat(20))).to.equal('password password must not repeat one character.')
    expect(await told('😀'.repeat(20))).to.equal('password password must not repeat one character.')
    expect(await told('my name is ANN!')).to.equal('password password must not contain the username.')
    expect(await told('QwertyUiop12')).to.equal('password password must not be one of the commonest passwords.')
    expect(await told('iloveyou', 8)).to.equal('password password must not be one of the commonest passwords.')
    expect(await told('eightchr', 8)).to.equal('good')
  })

  it('knows the thousand commonest that are long enough', () => {
    expect(commonPasswords.size).to.equal(1_000)
    for (const password of commonPasswords) {
      expect(password.length, password).to.be.at.least(8)
      expect(password.toLowerCase().normalize('NFKC')).to.equal(password)
    }
  })

  it('makes passwords that follow its own rules', async () => {
    const made = new Set(Array.from({ length: 50 }, () => randomPassword()))
    expect(made.size).to.equal(50)
    for (const password of made) await checkPassword(password, { username: 'somebody', least: 24, param: 'password' })
  })
})
