import { expect } from 'chai'
import { WordTable } from '../../../plugins/classification/word-table.ts'

describe('plugins/classification/word-table', () => {
  const words = ['a', 'at', 'ta', 'tall', 'talk', 'ion']
  const table = new WordTable(new Map(words.map((word, index): [string, number] => [word, index])))

  it('finds exactly its words, wherever they stand in a text', () => {
    const text = 'a at ta tall talk talks tal ion nation'
    for (let start = 0; start < text.length; start++)
      for (let end = start + 1; end <= text.length; end++) {
        const index = words.indexOf(text.slice(start, end))
        expect(table.find(text, start, end), text.slice(start, end)).to.equal(index < 0 ? undefined : index)
      }
  })
})
