import { useEffect, useRef, useState } from 'react'
import type { Token } from './yaml-tokens.ts'
import classes from './Yaml.module.css'

interface YamlProps {
  readonly text: string
  /** The number of its first line in the file. */
  readonly first: number
  /** Lines of the file that are marked, and scrolled to. */
  readonly marked: { readonly from: number; readonly to: number } | undefined
  /** A click on a line. */
  readonly onLine?: (line: number) => void
}

/** YAML that is only read: numbered lines, in colours once its grammar has been loaded. */
export function Yaml({ text, first, marked, onLine }: YamlProps) {
  const lines = text.replace(/\n$/, '').split('\n')
  const [tokens, setTokens] = useState<{ readonly of: string; readonly lines: readonly (readonly Token[])[] }>()
  const list = useRef<HTMLOListElement>(null)
  const from = marked?.from
  useEffect(() => {
    let gone = false
    void import('./yaml-tokens.ts').then(({ tokensOf }) => {
      if (!gone) setTokens({ of: text, lines: tokensOf(text) })
    })
    return () => {
      gone = true
    }
  }, [text])
  useEffect(() => {
    const line = list.current?.children[(from ?? first) - first]
    if (list.current && line instanceof HTMLElement)
      list.current.scrollTop = Math.max(0, line.offsetTop - list.current.offsetTop - 60)
  }, [from, first])
  return (
    <ol ref={list} className={classes.lines} tabIndex={0}>
      {lines.map((line, index) => {
        const number = first + index
        const own = tokens?.of === text ? tokens.lines[index] : undefined
        const isMarked = marked !== undefined && number >= marked.from && number <= marked.to
        return (
          <li
            key={number}
            className={isMarked ? classes.marked : undefined}
            aria-current={isMarked ? 'true' : undefined}
            onClick={onLine && (() => onLine(number))}
          >
            <span className={classes.number}>{number}</span>
            <code>
              {own
                ? own.map((token, at) => (
                    <span key={at} className={classes[token.look]}>
                      {token.text}
                    </span>
                  ))
                : line}
            </code>
          </li>
        )
      })}
    </ol>
  )
}
