import { armFormat, attemptFormat, pipelineFormat } from '../../config/format.ts'
import { fieldsOf } from './fields.ts'
import { fieldTable, page } from './markdown.ts'

const introduction =
  'A file of the folder `pipelines/` holds one pipeline, or several under `endpoints:`. `aliases:` lists, once for all files, further prefixes under which the routes are served: the shipped [aliases.yaml](../../pipelines/aliases.yaml) also serves the routes of `/v1/` under `/` and `/v1/v1/`. A file whose name ends in `.test.yaml` is a fixture: it tries a pipeline against scripted providers (`sluice test`).'

const steps = `A step is the name of a stage, or its name with its fields. [Stages](stages.md) lists the stages; [Slots](slots.md) lists the values that stages hand to each other.

\`\`\`yaml
name: cheap-chat
summary: Chat completions for the model that is asked for.
protocol: chat
routes: [POST /v1/cheap/chat/completions]
stages:
  - use: admit # the stages of another pipeline, here: auth … reserve
  - use: generate
finally:
  - use: settle # price, charge, log
\`\`\`

What changes requests stands between \`parse\` and the second half of \`admit\`, which is \`prepare\`:

\`\`\`yaml
name: brief-chat
summary: Chat completions with short answers.
protocol: chat
routes: [POST /v1/brief/chat/completions]
stages:
  - auth: { with: key } # a stage with fields
  - parse # a stage with its defaults
  - set: { default: { max_tokens: 200 } }
  - use: prepare # apply-policy, validate, limit, use: route, reserve
  - use: generate
finally:
  - use: settle
\`\`\`

A pipeline that chooses the model itself (\`pin: { model: … }\`) lists the stages of \`prepare\`, with \`allow\` in place of \`use: route\`: [one-model](../recipes/one-model.yaml).

Any step may have a \`timeout\` next to its name; \`sluice explain\` shows the default of each stage. After that time the request ends with 504, or another candidate is tried.

\`\`\`yaml
- use: generate
  timeout: 10m
\`\`\`

Before anything is served, every pipeline is checked: each stage gets the slots that it needs on every path, a pipeline with routes first authenticates its client (or says \`public: true\`), and it always ends with a reply, or with a stage that refuses (\`ends\`).

It is also proven that a pipeline pays what its stages owe. A stage says what a pipeline must do because it runs (\`owes\`), and which of these duties it fulfils (\`pays\`): [Stages](stages.md) lists both. \`call\` owes \`limit\`, \`allow\` and \`reserve\` before it, \`breaker\` and \`answered\` in its \`attempt\`, and \`price\`, \`charge\` and \`log\` in \`finally\`.

- A duty is paid on every path, however the exchange ends. A path that a condition on a slot excludes is none. Conditions on values may hold or not.
- What is owed before a stage is paid in any order. What is owed in \`finally\` is paid in the order of the list: \`price\`, \`charge\`, \`log\`.
- A duty may be about a slot (\`of\`). It is owed again when a stage gives the slot without needing it: after a second \`pin\`, \`allow\` and \`reserve\` are owed again because they are of \`candidates\`. \`breaker\` is of \`model\`, which every \`attempt\` gives anew.
- A path ends with a stage that refuses (\`ends\`): what it had not run into yet, it does not owe. Such a stage in \`finally\` pays nothing and ends nothing.
- What a pipeline includes is proven as a part of it. A pipeline that a stage runs by its name pays by itself.
- A missing duty is an error. A duty that depends on settings is a warning, and only while they differ from the defaults: \`apply-policy\`, while the configuration has a policy.
- \`without: [limit]\` is the only way around a duty, also for what the pipeline includes. A duty that belongs to another (\`answered\` to \`breaker\`) goes with it, and an unknown name is an error. \`sluice explain\` shows it, and \`sluice check\` notes it.`

const choice = `A \`switch\` runs the first arm whose conditions all hold. An arm without \`when\` takes the rest.

\`\`\`yaml
- switch:
    - when: { request.stream: true, principal.name: [alice, bob] }
      do: [use: generate]
    - when: { request.model: { pattern: "large-*", not: large-preview } }
      do: [set: { override: { stream: false } }, use: generate]
    - do: [refuse: { status: 503 }]
\`\`\`

A condition is a dotted path into a slot, and the value that it must have:

| Value | Holds when |
| --- | --- |
| a text, a number, true, false, null | the value equals it |
| a list of these | the value is one of them |
| \`{ prefix: text }\` | the value begins with the text, or with one of a list |
| \`{ pattern: text }\` | the value matches the text, or one of a list; \`*\` stands for any characters |
| \`{ not: … }\` | what follows does not hold, or there is no value |
| a slot alone: true or false | the slot is there, or is not |

For a list in the request, one matching member is enough: \`request.body.tools.type: web_search\` holds when one of the tools is of that type. A path to a field that a slot does not have is refused when the pipeline is loaded, and so is a value that the field never has.

Some stages give a slot only sometimes. A condition ensures that it is there: in the arm of \`reply: true\`, and in all that comes after the arm of \`reply: false\`.

\`\`\`yaml
- acme-cache # may give: reply
- switch:
    - when: { reply: false }
      do: [use: generate] # gives: reply
\`\`\``

const tries =
  'An `attempt` tries candidates in their order. Its steps see the current candidate as the slot `model`. Once the first event of an answer has arrived, no other candidate is tried.'

/** The page about the YAML of pipelines, generated from the schemas that check it. */
export function pipelinesPage(): string {
  const { do: inner, ...fields } = attemptFormat.properties
  return page('Pipelines', introduction, [
    `## A pipeline\n\n${fieldTable(fieldsOf(pipelineFormat))}`,
    `## Steps\n\n${steps}`,
    `## switch\n\n${choice}\n\n${fieldTable(fieldsOf(armFormat))}`,
    `## attempt\n\n${tries}\n\n${fieldTable(fieldsOf({ ...attemptFormat, properties: { ...fields, do: inner } }))}`,
  ])
}
