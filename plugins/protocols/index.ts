import { definePlugin } from '../../engine/index.ts'
import chat from './chat/codec.ts'
import countTokens from './count/count-tokens.ts'
import estimateTokens from './count/estimate-tokens.ts'
import decisions from './decisions/codec.ts'
import mapeval from './mapeval/codec.ts'
import embeddings from './media/embeddings.ts'
import imageEdits from './media/image-edits.ts'
import images from './media/images.ts'
import speech from './media/speech.ts'
import transcriptions from './media/transcriptions.ts'
import translations from './media/translations.ts'
import messages from './messages/codec.ts'
import responses from './responses/codec.ts'
import call from './stages/call.ts'
import parse from './stages/parse.ts'
import translateBack from './stages/translate-back.ts'
import translate from './stages/translate.ts'
import validate from './stages/validate.ts'

export default definePlugin({
  name: 'protocols',
  summary: 'What is spoken with clients and providers, and the stages between them.',
  stages: [parse, validate, translate, call, translateBack, estimateTokens],
  codecs: [
    chat,
    messages,
    responses,
    decisions,
    mapeval,
    countTokens,
    embeddings,
    images,
    imageEdits,
    speech,
    transcriptions,
    translations,
  ],
})
