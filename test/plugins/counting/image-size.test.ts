import { expect } from 'chai'
import * as fc from 'fast-check'
import { imageSize } from '../../../plugins/counting/image-size.ts'
import { images } from './images.ts'

describe('imageSize', () => {
  for (const [format, make] of Object.entries(images)) {
    it(`reads ${format}`, () => {
      expect(imageSize(make(1092, 731))).to.deep.equal({ width: 1092, height: 731 })
      expect(imageSize(make(1, 16_000))).to.deep.equal({ width: 1, height: 16_000 })
    })

    it(`does not guess when ${format} is cut off or empty`, () => {
      const bytes = make(1092, 731)
      const whole = ['png', 'gif'].includes(format)
        ? { png: 24, gif: 10 }[format as 'png' | 'gif']
        : bytes.length - (format === 'jpeg' ? 1 : 0)
      expect(imageSize(bytes.subarray(0, whole))).to.deep.equal({ width: 1092, height: 731 })
      for (let length = 0; length < whole; length++) expect(imageSize(bytes.subarray(0, length))).to.equal(undefined)
    })
  }

  it('finds the frame of a JPEG behind long metadata', () => {
    expect(imageSize(images.jpeg(4000, 3000, 60_000))).to.deep.equal({ width: 4000, height: 3000 })
  })

  it('knows no size of other formats, of none, and of zero', () => {
    const others = ['<svg width="9999" height="9999"/>', 'BM', '', 'RIFF\0\0\0\0WAVEfmt 000000000000000000']
    for (const text of others) expect(imageSize(Buffer.from(text, 'latin1'))).to.equal(undefined)
    expect(imageSize(images.png(0, 5))).to.equal(undefined)
  })

  it('never throws, whatever the bytes', () => {
    const starts = fc.constantFrom(
      '',
      '\x89PNG\r\n\x1a\n',
      'GIF8',
      'RIFF0000WEBPVP8L',
      'RIFF0000WEBPVP8X',
      '\xff\xd8\xff',
      '\xff\xd8\xff\xe0\0\0',
    )
    fc.assert(
      fc.property(starts, fc.uint8Array({ maxLength: 60 }), (start, bytes) => {
        const size = imageSize(Buffer.concat([Buffer.from(start, 'latin1'), bytes]))
        expect(size === undefined || (size.width > 0 && size.height > 0)).to.equal(true)
      }),
    )
  })
})
