import { definePlugin } from '../../engine/index.ts'
import chat from './chat/codec.ts'
import converse from './converse/codec.ts'
import decisions from './decisions/codec.ts'
import mapeval from './decisions/mapeval/codec.ts'
import gemini from './gemini/codec.ts'
import geminiCountTokens from './gemini/gemini-count-tokens.ts'
import geminiEmbedding from './gemini/gemini-embedding.ts'
import geminiEmbeddings from './gemini/gemini-embeddings.ts'
import embeddings from './media/embeddings.ts'
import imageEdits from './media/image-edits.ts'
import images from './media/images.ts'
import speech from './media/speech.ts'
import transcriptions from './media/transcriptions.ts'
import translations from './media/translations.ts'
import messages from './messages/codec.ts'
import countTokens from './messages/count-tokens.ts'

export default definePlugin({
  name: 'protocols',
  summary: 'What is spoken with clients and providers.',
  codecs: [
    chat,
    messages,
    countTokens,
    converse,
    gemini,
    geminiEmbeddings,
    geminiEmbedding,
    geminiCountTokens,
    decisions,
    mapeval,
    embeddings,
    images,
    imageEdits,
    speech,
    transcriptions,
    translations,
  ],
})
