import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { models } from '../../catalog/models.ts'
import { Button } from '../../parts/Button.tsx'
import { Card } from '../../parts/Card.tsx'
import { Segments } from '../../parts/Segments.tsx'
import { AnswerBars } from './AnswerBars.tsx'
import { CallForm } from './CallForm.tsx'
import { Field } from './Field.tsx'
import { isWhole, kinds, questionOf } from './question.ts'
import type { Answered, Question } from './question.ts'
import { useCall } from './useCall.ts'
import { words } from './words.ts'
import classes from './playground.module.css'

const options = kinds.map((value) => ({ value, label: words.kinds[value] }))
const usual: readonly Question[] = [{ id: 0, kind: 'predicate', ...words.firstQuestion }]

/** Typed questions about one text, with the probabilities of their answers. */
export default function Decisions() {
  const { data: all = [] } = useQuery(models)
  const [typed, setTyped] = useState<string>()
  const [evidence, setEvidence] = useState<string>(words.firstEvidence)
  const [questions, setQuestions] = useState(usual)
  const next = useRef(1)
  const call = useCall(async (response) => ((await response.json()) as { answers: readonly Answered[] }).answers)
  const [asked, setAsked] = useState(usual)
  const model = typed ?? all.find((one) => one.supports_mapeval)?.name ?? ''
  const isReady = model !== '' && evidence.trim() !== '' && questions.length > 0 && questions.every(isWhole)
  const request = { path: '/v1/decisions', body: { model, input: evidence, questions: questions.map(questionOf) } }
  const change = (id: number, changes: Partial<Question>) =>
    setQuestions(questions.map((one) => (one.id === id ? { ...one, ...changes } : one)))
  const send: typeof call.send = (outgoing) => {
    setAsked(questions)
    call.send(outgoing)
  }
  return (
    <CallForm
      model={model}
      onModel={setTyped}
      fits={(one) => one.supports_mapeval}
      call={{ ...call, send }}
      request={isReady ? request : undefined}
      action={words.askQuestions}
      shown={
        call.answer && (
          <Card title={words.answers}>
            {call.answer.value.map((answer, index) => {
              const question = asked[index]
              return question && <AnswerBars key={question.id} question={question} answer={answer} />
            })}
          </Card>
        )
      }
    >
      <Field label={words.evidence}>
        {(id) => (
          <textarea id={id} rows={4} value={evidence} onChange={(event) => setEvidence(event.currentTarget.value)} />
        )}
      </Field>
      {questions.map((question, index) => (
        <fieldset key={question.id} className={classes.question}>
          <legend className="visually-hidden">{words.question(index + 1)}</legend>
          <div className={classes.bar}>
            <Field label={words.question(index + 1)}>
              {(id) => (
                <input
                  id={id}
                  value={question.instructions}
                  onChange={(event) => change(question.id, { instructions: event.currentTarget.value })}
                />
              )}
            </Field>
            <Segments
              label={words.kind(index + 1)}
              options={options}
              value={question.kind}
              onChange={(kind) => change(question.id, { kind })}
            />
            <Button
              small
              icon="trash"
              aria-label={words.removeQuestion(index + 1)}
              onClick={() => setQuestions(questions.filter((one) => one !== question))}
            />
          </div>
          {question.kind !== 'predicate' && (
            <Field label={question.kind === 'choice' ? words.choices : words.levels}>
              {(id) => (
                <textarea
                  id={id}
                  rows={3}
                  value={question.lines}
                  onChange={(event) => change(question.id, { lines: event.currentTarget.value })}
                />
              )}
            </Field>
          )}
        </fieldset>
      ))}
      <div>
        <Button
          icon="plus"
          onClick={() =>
            setQuestions([...questions, { id: next.current++, kind: 'choice', instructions: '', lines: '' }])
          }
        >
          {words.addQuestion}
        </Button>
      </div>
    </CallForm>
  )
}
