import { expect } from 'chai'
import * as fc from 'fast-check'
import { FormReader, fieldAt, spliceField } from '../../../engine/kit/form.ts'
import type { Form } from '../../../engine/kit/form.ts'
import { GatewayError } from '../../../engine/spec/error.ts'
import { BytesBody } from '../../../engine/stream/body.ts'
import { collect } from '../../../engine/stream/collect.ts'

const type = 'multipart/form-data; boundary=XX'

/** A form from the headers and the content of each part. */
function form(...parts: readonly (readonly [headers: string, content: string])[]): Buffer {
  return Buffer.from(
    parts.map(([headers, content]) => `--XX\r\n${headers}\r\n\r\n${content}\r\n`).join('') + '--XX--\r\n',
  )
}

function text(name: string, content: string): readonly [string, string] {
  return [`Content-Disposition: form-data; name="${name}"`, content]
}

function file(name: string, filename: string, content: string): readonly [string, string] {
  return [
    `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: audio/WAV; rate=8`,
    content,
  ]
}

/** Reads a form whose bytes arrive in pieces of `size`. */
async function readForm(bytes: Buffer, contentType: string, size = bytes.length): Promise<Form> {
  const reader = new FormReader(contentType)
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
  return reader.read()
}

async function refusal(bytes: Buffer, contentType = type, size = bytes.length): Promise<string> {
  const thrown: unknown = await readForm(bytes, contentType, size).then(
    () => undefined,
    (error: unknown) => error,
  )
  if (!(thrown instanceof GatewayError)) throw new Error('expected a GatewayError', { cause: thrown })
  expect(thrown.failure.status).to.equal(400)
  return thrown.message.replace('The form is malformed: ', '')
}

/** The form with `value` as its field `model`. */
async function splice(bytes: Buffer, value: string): Promise<Buffer> {
  const spliced = spliceField(new BytesBody(bytes), fieldAt(await readForm(bytes, type), 'model'), value)
  return collect(spliced.open(), spliced.size)
}

function spliceRefusal(bytes: Buffer): Promise<string> {
  return splice(bytes, 'new').then(
    (spliced) => spliced.toString(),
    (error: Error) => error.message,
  )
}

describe('readForm', () => {
  it('reads texts, lists and files, and keeps no content of a file', async () => {
    const body = form(
      text('model', 'whisper'),
      text('empty', ''),
      text('include[]', 'logprobs'),
      text('tag', 'a'),
      text('tag', 'b ü 漢 😀'),
      file('file', 'a.wav', 'RIFF\r\n--X\r\n\r\nmore'),
      file('image[]', '', ''),
    )
    const { fields, files } = await readForm(body, type)
    expect(JSON.stringify(fields)).to.equal(
      JSON.stringify({
        model: 'whisper',
        empty: '',
        'include[]': ['logprobs'],
        tag: ['a', 'b ü 漢 😀'],
        file: { filename: 'a.wav', mediaType: 'audio/wav', bytes: 17 },
        'image[]': [{ filename: '', mediaType: 'audio/wav', bytes: 0 }],
      }),
    )
    expect(files).to.deep.equal([
      { name: 'file', filename: 'a.wav', mediaType: 'audio/wav', bytes: 17 },
      { name: 'image[]', filename: '', mediaType: 'audio/wav', bytes: 0 },
    ])
  })

  it('reads what clients really send', async () => {
    const data = new FormData()
    data.append('model', 'whisper')
    data.append('file', new File(['0123456789'], 'a "quoted"\n名.mp3', { type: 'audio/mpeg' }))
    const request = new Request('http://localhost', { method: 'POST', body: data })
    const { fields } = await readForm(
      Buffer.from(await request.arrayBuffer()),
      request.headers.get('content-type') ?? '',
    )
    expect(fields['model']).to.equal('whisper')
    expect(fields['file']).to.deep.equal({ filename: 'a %22quoted%22%0A名.mp3', mediaType: 'audio/mpeg', bytes: 10 })
  })

  it('reads quoted, unquoted and escaped names, and file names with a character set', async () => {
    const { fields, files } = await readForm(
      form(
        ['content-disposition: FORM-DATA; name=plain', '1'],
        ['Content-Disposition: form-data; name="a; name=model"', '2'],
        ['Content-Disposition: form-data; name="say \\"hi\\""', '3'],
        ['Content-Disposition: form-data; filename="x; name=model"; name="file"', '4'],
        ["Content-Disposition: form-data; name=other; filename*=UTF-8''%e4%b8%ad.wav", '56'],
      ),
      type,
    )
    expect(Object.keys(fields)).to.deep.equal(['plain', 'a; name=model', 'say "hi"', 'file', 'other'])
    expect(files.map(({ filename, bytes }) => [filename, bytes])).to.deep.equal([
      ['x; name=model', 1],
      ['中.wav', 2],
    ])
  })

  it('keeps only the last part of a path', async () => {
    const names = ['../../etc/passwd', '..\\..\\boot.ini', '/abs/olute.wav', '..']
    const { files } = await readForm(form(...names.map((name) => file('file', name, ''))), type)
    expect(files.map(({ filename }) => filename)).to.deep.equal(['passwd', 'boot.ini', 'olute.wav', ''])
  })

  it('reads a form without parts', async () => {
    const { fields, files } = await readForm(Buffer.from('--XX--'), type)
    expect({ fields, files }).to.deep.equal({ fields: {}, files: [] })
  })

  it('takes names that objects have, without reaching their prototype', async () => {
    const { fields } = await readForm(form(text('__proto__', 'x'), text('constructor', 'y')), type)
    expect(Object.entries(fields)).to.deep.equal([
      ['__proto__', 'x'],
      ['constructor', 'y'],
    ])
    expect(Object.getPrototypeOf(fields)).to.equal(null)
    expect({}).to.not.have.property('x')
  })

  it('takes a text of 1 MiB and refuses one byte more, and a file of any length', async () => {
    const long = 'x'.repeat(1024 * 1024)
    expect((await readForm(form(text('prompt', long)), type)).fields['prompt']).to.equal(long)
    expect(await refusal(form(text('prompt', `${long}y`)))).to.equal(
      'Invalid value at prompt: it is longer than 1048576 bytes.',
    )
    expect((await readForm(form(file('file', 'a', `${long}y`)), type)).files[0]?.bytes).to.equal(1_048_577)
  })

  it('takes 8 MiB of text in all', async () => {
    const texts = Array.from({ length: 8 }, (_, index) => text(`p${index}`, 'x'.repeat(1024 * 1024)))
    expect(Object.keys((await readForm(form(...texts), type)).fields)).to.have.length(8)
    expect(await refusal(form(...texts, text('more', 'x')))).to.equal('its texts are longer than 8388608 bytes.')
  })

  it('takes 100 parts and refuses more', async () => {
    const parts = (count: number) => form(...Array.from({ length: count }, (_, index) => text(`p${index}`, 'v')))
    expect(Object.keys((await readForm(parts(100), type)).fields)).to.have.length(100)
    expect(await refusal(parts(101))).to.equal('it has more than 100 parts.')
    expect(await refusal(parts(10_000))).to.equal('it has more than 100 parts.')
  })

  it('limits names and headers', async () => {
    expect(Object.keys((await readForm(form(text('n'.repeat(100), 'v')), type)).fields)[0]).to.have.length(100)
    expect(await refusal(form(text('n'.repeat(101), 'v')))).to.equal('the name of a part is longer than 100 bytes.')
    expect(await refusal(form(text('n'.repeat(1_000_000), 'v')))).to.equal('the headers of a part are too long.')
    const headers = Array.from({ length: 16 }, (_, index) => `X-${index}: y`).join('\r\n')
    expect(await refusal(form([`${headers}\r\n${text('a', '')[0]}`, 'v']))).to.equal('a part has more than 16 headers.')
  })

  it('refuses evil boundaries', async () => {
    const bad = [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      'multipart/form-data; boundary=""',
      'multipart/form-data; boundary=XX; boundary=YY',
      "multipart/form-data; boundary=XX; boundary*=utf-8''YY",
      'multipart/form-data; boundary="X\r\nX"',
      'multipart/form-data; boundary=X X',
      'multipart/form-data; boundary="XX',
      'multipart/form-data; x=";boundary=XX"',
      `multipart/form-data; boundary=${'X'.repeat(71)}`,
    ]
    for (const contentType of bad) {
      expect(await refusal(form(text('a', 'b')), contentType)).to.equal('the content type names no valid boundary.')
    }
    expect(await refusal(form(text('a', 'b')), 'application/json')).to.equal(
      'the content type is not multipart/form-data.',
    )
  })

  it('takes a boundary that means something to regular expressions and parsers', async () => {
    for (const boundary of ["(.+)?'", '--', '-----WebKitFormBoundary', '=_=', 'a:b/c,d']) {
      const body = Buffer.from(`--${boundary}\r\n${text('a', '')[0]}\r\n\r\nb\r\n--${boundary}--`)
      const { fields } = await readForm(body, `Multipart/Form-Data; charset=utf-8; Boundary="${boundary}"`)
      expect({ ...fields }).to.deep.equal({ a: 'b' })
    }
  })

  it('refuses what is cut off at any byte before its end', async () => {
    const body = form(text('model', 'm'), file('file', 'a.wav', 'RIFF'))
    const end = body.length - '\r\n'.length
    for (let length = 0; length < end; length++) await refusal(body.subarray(0, length))
    expect((await readForm(body.subarray(0, end), type)).files).to.have.length(1)
  })

  const ambiguous: readonly (readonly [what: string, bytes: string | Buffer, reason: string])[] = [
    ['a preamble', `hello\r\n${form(text('a', 'b')).toString()}`, 'it does not begin with its boundary'],
    ['an epilogue', `${form(text('a', 'b')).toString()}--XX\r\n`, 'something follows its end'],
    ['padding after a boundary', '--XX \r\nA: b\r\n\r\n\r\n--XX--', 'a delimiter line does not end after the boundary'],
    ['a longer boundary', form(file('a', 'b', 'c\r\n--XXX\r\n')), 'a delimiter line does not end after the boundary'],
    [
      'bare line feeds',
      '--XX\nContent-Disposition: form-data; name="a"\n\nb\n--XX--',
      'a delimiter line does not end after the boundary',
    ],
    [
      'a delimiter after a bare line feed, in a text',
      form([text('a', '')[0], 'b\n--XX\r\nmore']),
      'a delimiter follows a bare line feed',
    ],
    [
      'a delimiter after a bare line feed, in a file',
      form(file('a', 'b', '\n\n--XX')),
      'a delimiter follows a bare line feed',
    ],
    ['no headers', '--XX\r\n\r\nb\r\n--XX--', 'a part has no headers'],
    ['no content', `--XX\r\n${text('a', '')[0]}\r\n--XX--`, 'a part has no headers'],
    ['nothing between delimiters', '--XX\r\n--XX--', 'a part has no headers'],
    [
      'a folded header',
      form(['Content-Disposition: form-data;\r\n name="a"', 'b']),
      'the headers of a part are not valid',
    ],
    ['a NUL', form(['Content-Disposition: form-data; name="a\0"', 'b']), 'the headers of a part are not valid'],
    [
      'a repeated header',
      form([`${text('a', '')[0]}\r\n${text('model', '')[0]}`, 'b']),
      'the headers of a part are not valid',
    ],
    ['no disposition', form(['Content-Type: text/plain', 'b']), 'a part is no form data'],
    ['another disposition', form(['Content-Disposition: attachment; name="a"', 'b']), 'a part is no form data'],
    ['no name', form(['Content-Disposition: form-data', 'b']), 'a part has no plain name'],
    [
      'two names',
      form(['Content-Disposition: form-data; name="a"; NAME="model"', 'b']),
      'the name of a part cannot be read',
    ],
    ['name*', form(["Content-Disposition: form-data; name*=utf-8''model", 'b']), 'a part has no plain name'],
    [
      'name and name*',
      form(['Content-Disposition: form-data; name="a"; name*=utf-8\'\'model', 'b']),
      'a part has no plain name',
    ],
    ['an open quote', form(['Content-Disposition: form-data; name="a', 'b']), 'the name of a part cannot be read'],
    [
      'encoded content',
      form([`${text('a', '')[0]}\r\nContent-Transfer-Encoding: base64`, 'Yg==']),
      'a part is encoded',
    ],
  ]
  for (const [what, bytes, reason] of ambiguous) {
    it(`refuses ${what}`, async () => {
      expect(await refusal(Buffer.from(bytes))).to.equal(`${reason}.`)
      expect(await refusal(Buffer.from(bytes), type, 1)).to.equal(`${reason}.`)
    })
  }
})

describe('spliceField', () => {
  it('replaces the content of the field and not one byte more', async () => {
    const parts = [file('file', 'name=model', 'model\r\n\r\nmodel\0ÿ'), text('prompt', 'name="model"')] as const
    const body = form(parts[0], text('model', 'the old name'), parts[1])
    expect((await splice(body, 'neu/é')).equals(form(parts[0], text('model', 'neu/é'), parts[1]))).to.equal(true)
    expect((await splice(body, '')).equals(form(parts[0], text('model', ''), parts[1]))).to.equal(true)
  })

  it('refuses a field that is missing, repeated, a file or in another character set', async () => {
    const place = 'Invalid value at model: '
    expect(await spliceRefusal(form(text('Model', 'a')))).to.equal(`${place}it is missing.`)
    expect(await spliceRefusal(form(text('model', 'a'), text('model', 'a')))).to.equal(
      `${place}it is there more than once.`,
    )
    expect(await spliceRefusal(form(text('model', 'a'), file('model', 'a', 'b')))).to.equal(
      `${place}it is there more than once.`,
    )
    expect(await spliceRefusal(form(file('model', 'a', 'b')))).to.equal(`${place}it is not UTF-8 text.`)
    const utf16 = [`${text('model', '')[0]}\r\nContent-Type: text/plain; charset="UTF-16"`, 'a'] as const
    expect(await spliceRefusal(form(utf16))).to.equal(`${place}it is not UTF-8 text.`)
    for (const line of ['a\n', 'a\r', '\r\na'])
      expect(await spliceRefusal(form(text('model', line)))).to.equal(`${place}it has line breaks.`)
    const latin = Buffer.from(form(text('model', '\u00e9')).toString(), 'latin1')
    expect(await spliceRefusal(latin)).to.equal(`${place}it is not UTF-8 text.`)
    const utf8 = [`${text('model', '')[0]}\r\nContent-Type: text/plain; charset=UTF-8`, 'a'] as const
    expect(await spliceRefusal(form(utf8))).to.equal(form([utf8[0], 'new']).toString())
  })

  it('refuses a new value that could end the part', async () => {
    const refused: unknown = await splice(form(text('model', 'a')), 'x\r\n--XX--').catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(TypeError)
  })

  it('gives the new model and the same files and fields, for any form', async () => {
    const word = fc
      .string({ unit: 'grapheme', maxLength: 20 })
      .filter((value) => !/["\\\p{Cc}]/u.test(value) && value !== 'model' && Buffer.byteLength(value) <= 100)
    const line = fc.string({ unit: 'binary', maxLength: 40 }).map((value) => value.replace(/[\r\n\ud800-\udfff]/g, '-'))
    const content = fc.oneof(
      line,
      fc.constantFrom('\r\n', '\r\n--', 'x--XX\r\n', '\r\n--X', 'name="model"\r\n\r\nx', '\r\n\r\n'),
    )
    const part = fc.oneof(
      fc.tuple(word, content).map(([name, value]) => text(name, value)),
      fc.tuple(word, word, content).map((given) => file(...given)),
    )
    const others = fc.array(part, { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(others, others, line, line, async (before, after, old, model) => {
        const body = form(...before, text('model', old), ...after)
        const was = await readForm(body, type)
        expect(await readForm(body, type, 7)).to.deep.equal(was)
        const spliced = await splice(body, model)
        const is = await readForm(spliced, type)
        expect(is.files).to.deep.equal(was.files)
        expect(Object.entries(is.fields)).to.deep.equal(Object.entries({ ...was.fields, model }))
        expect(was.fields['model']).to.equal(old)
        expect(spliced.equals(form(...before, text('model', model), ...after))).to.equal(true)
      }),
    )
  })
})
