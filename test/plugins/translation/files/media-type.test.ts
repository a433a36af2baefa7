import { expect } from 'chai'
import { audioFormatOf, mediaTypeOf } from '../../../../plugins/translation/files/media-type.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')

describe('the media type of a fetched file', () => {
  it('is what the server says', () => {
    expect(mediaTypeOf('Text/Plain; charset=utf-8', bytes('%PDF-1.7'), 'a.pdf')).to.equal('text/plain')
  })
  for (const [head, type] of [
    ['%PDF-1.7', 'application/pdf'],
    ['\x89PNG\r\n\x1a\n', 'image/png'],
    ['\xff\xd8\xff\xe0', 'image/jpeg'],
    ['GIF89a', 'image/gif'],
    ['RIFF\n\0\0\0WEBPVP8 ', 'image/webp'],
    ['RIFF\n\0\0\0WAVEfmt ', 'audio/wav'],
    ['ID3\x04', 'audio/mpeg'],
    ['\xff\xfb\x90', 'audio/mpeg'],
    ['OggS\0', 'audio/ogg'],
    ['fLaC\0', 'audio/flac'],
  ] as const)
    it(`is told by the beginning of ${type} where the server says nothing`, () => {
      for (const said of ['', 'application/octet-stream', 'binary/octet-stream'])
        expect(mediaTypeOf(said, bytes(head), '/a.txt')).to.equal(type)
    })
  it('is told by the name where nothing else tells it', () => {
    expect(mediaTypeOf('', bytes('a,b'), '/x/Table.CSV')).to.equal('text/csv')
    expect(mediaTypeOf('', bytes('a,b'), '/x/constructor')).to.equal('application/octet-stream')
    expect(mediaTypeOf('', bytes(''), '')).to.equal('application/octet-stream')
  })
  it('has a word for the format of sound', () => {
    expect(['audio/mpeg', 'audio/x-wav', 'audio/flac'].map(audioFormatOf)).to.deep.equal(['mp3', 'wav', 'flac'])
  })
})
