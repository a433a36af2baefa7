import { definePlugin } from '../../engine/index.ts'
import chat from './chat/codec.ts'
import countTokens from './messages/count-tokens.ts'
import estimateTokens from '../counting/estimate-tokens.ts'
import decisions from './decisions/codec.ts'
import mapeval from './decisions/mapeval/codec.ts'
import embeddings from './media/embeddings.ts'
import imageEdits from './media/image-edits.ts'
import images from './media/images.ts'
import speech from './media/speech.ts'
import transcriptions from './media/transcriptions.ts'
import translations from './media/translations.ts'
import messages from './messages/codec.ts'
import responses from '../responses/codec.ts'
import compact from '../responses/compact.ts'
import inputTokens from '../responses/input-tokens.ts'
import compactLocally from '../responses/stored/compact-locally.ts'
import background from '../responses/stored/background.ts'
import cancelResponse from '../responses/stored/cancel-response.ts'
import prepareResponse from '../responses/stored/prepare-response.ts'
import deleteResponse from '../responses/stored/delete-response.ts'
import forget from '../responses/stored/forget.ts'
import listInputItems from '../responses/stored/list-input-items.ts'
import recall from '../responses/stored/recall.ts'
import resumeResponse from '../responses/stored/resume-response.ts'
import retrieveResponse from '../responses/stored/retrieve-response.ts'
import checkStorage from '../responses/stored/check-storage.ts'
import settleResponse from '../responses/stored/settle-response.ts'
import store from '../responses/stored/store.ts'
import fileUrls from '../translation/files/file-urls.ts'
import requestPolicy from '../translation/request-policy.ts'
import webSearch from '../translation/web-search.ts'
import call from '../translation/call.ts'
import inlineFiles from '../translation/inline-files.ts'
import parse from '../translation/parse.ts'
import translateBack from '../translation/translate-back.ts'
import translate from '../translation/translate.ts'
import validate from '../translation/validate.ts'

export default definePlugin({
  name: 'protocols',
  summary: 'What is spoken with clients and providers, and the stages between them.',
  stages: [
    parse,
    validate,
    inlineFiles,
    translate,
    call,
    translateBack,
    estimateTokens,
    compactLocally,
    prepareResponse,
    recall,
    store,
    forget,
    retrieveResponse,
    deleteResponse,
    listInputItems,
    background,
    resumeResponse,
    checkStorage,
    settleResponse,
    cancelResponse,
  ],
  codecs: [
    chat,
    messages,
    responses,
    compact,
    inputTokens,
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
  services: [webSearch, requestPolicy, fileUrls],
})
