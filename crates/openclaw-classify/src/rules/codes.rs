//! Rules for codes and types that mean the same at every provider (classify.md C-4).

use super::rule::{Attribution, Rule, code};
use crate::Reason;

/// Codes that outrank text.
#[rustfmt::skip]
pub(super) static CODES: &[Rule] = &[
    Rule::codes("session.code", Reason::SessionExpired, &[
        "sessionnotfound", "sessionexpired", "conversationnotfound",
    ], code("session_not_found")),
    Rule::codes("model.code", Reason::ModelNotFound, &[
        "parammodel", "modelnotfound", "modelnotsupported", "modelnotavailable", "modelunavailable",
        "modelnotexist", "modelnotexists", "modeldeactivated", "modelisdeactivated", "modeldecommissioned",
        "modeldeprecated", "modelnotallowed", "modelnotopen", "unknownmodel", "invalidmodel",
        "unsupportedmodel", "deploymentnotfound", "invalidendpointormodelnotfound", "modelaccessdenied",
        "modelterminated", "modelarchived", "modelnotfounderror", "notfoundmodel", "modelnotfoundexception",
    ], code("model_not_found")),
    Rule::codes("billing.code", Reason::Billing, &[
        "insufficientquota", "billingerror", "paymentrequired", "insufficientbalance",
        "insufficientbalanceerror", "insufficientcredits", "insufficientcredit",
        "exceededcurrentquotaerror", "billinghardlimitreached", "billingnotactive", "insufficientfunds",
        "arrearage", "insufficientuserquota", "balanceinsufficient", "accountoverdueerror",
        "accountoverdue", "customerverificationrequired", "creditlimitexceeded", "outofcredits",
        "creditsexhausted", "nocredits", "quotanotenough", "insufficientaccountbalance",
        "prepaidbalanceinsufficient", "creditbalancetoolow", "personalteamblockedspendinglimit",
        "openroutercredits", "postpaidbilloverdue",
        "prepaidbilloverdue", "paymentoverdue", "invalidsubscription", "billing",
    ], code("insufficient_quota")),
    Rule::codes("billing.model-code", Reason::Billing, &[
        "freetieronly", "allocationquotafreetieronly", "modelrequiressubscription", "modelnotinplan",
        "modelsubscriptionrequired",
    ], code("FreeTierOnly")).attributed_to(Attribution::Model),
    Rule::codes("overflow.code", Reason::ContextOverflow, &[
        "contextlengthexceeded", "contextwindowexceeded", "contextwindowexceedederror", "requesttoolarge",
        "exceedcontextsizeerror", "modelcontextwindowexceeded", "contextlengthexceedederror",
        "promptistoolong", "prompttoolong", "inputtoolong", "tokenlimitexceeded",
        "maxcontextlengthexceeded", "contextoverflow", "modelmaxpromptlengthexceeded",
        "modelmaxprompttokensexceeded",
    ], code("context_length_exceeded")),
    Rule::codes("policy.code", Reason::ContentPolicy, &[
        "contentpolicyviolation", "contentfilter", "contentfiltered", "moderation", "moderationblocked",
        "refusal", "safety", "responsibleaipolicyviolation", "datainspectionfailed", "prohibitedcontent",
        "blocklist", "spii", "imagesafety", "guardrailintervened", "contentblocked", "sensitive",
        "contentmoderationerror", "unsafecontent", "promptblocked", "inputtextsensitivecontentdetected",
        "sensitivecontentdetected", "safetyviolation", "usagepolicyviolation", "cyberpolicyviolation",
        "contentpolicy", "inputmoderation", "datainspectionfailederror",
    ], code("content_policy_violation")),
    Rule::codes("rate.usage-limit-code", Reason::RateLimit, &[
        "usagelimitreached", "usagelimitexceeded", "gousagelimiterror", "freeusagelimiterror",
        "subscriptionusagelimitexceeded", "planlimitreached", "weeklylimitreached", "monthlylimitreached",
        "accountquotaexceeded", "subscriptionquotaexceeded", "usagelimitreachederror", "usagenotincluded",
    ], code("usage_limit_reached")).attributed_to(Attribution::Account),
    Rule::codes("rate.specific-code", Reason::RateLimit, &[
        "modelcooldown", "tokenquotaexceeded", "throttlingerror",
        "throttlingratequota", "throttlingallocationquota", "throttlinguser", "throttlingapi",
        "requestlimitexceeded", "limitrequests", "tokensexceeded",
        "rpmexceeded", "tpmexceeded", "ratelimitreached", "modelratelimit", "toomanytokenserror",
        "ratelimitreachederror", "ratelimitexceedederror", "concurrencylimitexceeded", "requestburst",
        "limitburstrate", "dailylimitexceeded", "userratelimitexceeded", 
        "freetierlimitexceeded", "provisionedthroughputexceededexception", "limitexceededexception",
        "servicequotaexceededexception",
    ], code("model_cooldown")),
    Rule::codes("overloaded.code", Reason::Overloaded, &[
        "overloaded", "overloadederror", "modelnotreadyexception", "serverbusy", "engineoverloaded",
        "engineoverloadederror", "modeloverloaded", "capacityexceeded", "servicetiercapacityexceeded",
        "serveroverloaded", "nocapacity", "modelatcapacity", "systemoverloaded", "serviceoverloaded",
        "modelcapacityexhausted", "capacityexhausted", "servercapacityexhausted", "nocapacityavailable", "insufficientcapacity", "modelnotready", "serveroverloadederror",
        "modelbusy",
    ], code("overloaded_error")),
    Rule::codes("auth-permanent.code", Reason::AuthPermanent, &[
        "authpermanent", "apikeyrevoked", "apikeydeactivated", "apikeydeleted", "apikeydisabled",
        "keyrevoked", "accountdeactivated", "deactivatedworkspace", "consumersuspended",
        "refreshtokenreused", "refreshtokeninvalidated", "refreshtokenexpired", "invalidgrant",
        "tokenrevoked", "accountsuspended", "accountdisabled", "organizationrestricted",
        "organizationdisabled", "accountbanned", "oauthorgnotallowed", "apikeyblocked", "projectarchived",
        "accountdeleted", "useraccountdisabled", "accountlocked", "accountdeactivatederror",
    ], code("deactivated_workspace")),
    Rule::codes("auth.code", Reason::Auth, &[
        "auth", "invalidapikey", "authenticationerror", "unauthenticated", "apikeyinvalid",
        "expiredtokenexception", "expiredtoken", "tokenexpired", "invalidauthentication",
        "invalidauthenticationerror", "incorrectapikey", "incorrectapikeyerror", "invalidtoken",
        "missingapikey", "unrecognizedclientexception", "credentialsprovidererror",
        "invalidsignatureexception", "missingauthenticationtokenexception", "incompletesignature",
        "apikeyexpired", "apikeyservicelocked", "servicedisabled", "apikeyhttpreferrerblocked",
        "apikeyipaddressblocked", "apikeyservicetblocked", "apikeyserviceblocked",
        "unsupportedcountryregionterritory", "unsupportedcountry", "missingscope",
        "insufficientpermissions", "insufficientscope", "invalidaccesstoken", "unauthorizederror",
        "unauthorizedexception", "autherror", "invalidxapikey", "authenticationfailed", "authfailed",
        "authrequired", "loginrequired", "accesstokenscopeinsufficient", "accesstokenexpired",
        "invalidclient", "unauthorizedclient", "invalidcredentials", "badcredentials", "invalidapikeyerror",
        "authenticationrequired", "nosuchorganization", "invalidorganization", "mismatchedorganization",
        "ipnotauthorized",
    ], code("invalid_api_key")),
    Rule::codes("format.reasoning-state-code", Reason::Format, &[
        "invalidencryptedcontent", "thinkingsignatureinvalid", "invalidthinkingsignature", "missingthoughtsignature",
        "invalidthoughtsignature", "reasoningitemnotfound", "encryptedcontentinvalid",
    ], code("invalid_encrypted_content")).attributed_to(Attribution::Capability),
    Rule::codes("format.absent-thing-code", Reason::Format, &[
        "previousresponsenotfound", "invalidresponseid", "responsenotfound", "itemnotfound", "filenotfound",
        "vectorstorenotfound", "containernotfound", "containerexpired", "batchnotfound", "promptnotfound",
        "assistantnotfound", "cachedcontentnotfound", "cachenotfound", "invalidfileid", "nosuchfile", "uploadnotfound",
        "attachmentnotfound", "skillnotfound", "documentnotfound", "datasetnotfound", "previousresponseexpired",
        "invalidpreviousresponseid",
    ], code("previous_response_not_found")),
    Rule::codes("format.capability-code", Reason::Format, &[
        "unsupportedparameter", "unsupportedparameters", "unsupportedvalue", "unknownparameter", "invalidfunctionparameters",
        "extraforbidden", "jsonvalidatefailed", "tooluserefailed", "toolusefailed", "stringabovemaxlength",
        "arrayabovemaxlength", "integerbelowminvalue", "integerabovemaxvalue", "decimalabovemaxvalue",
        "decimalbelowminvalue", "invalidtype", "invalidvalue", "unsupportedparamserror", "unsupportedcontenttype",
        "unsupportedmodality", "unsupportedfeature", "unsupportedoperation", "featurenotsupported", "toolsnotsupported",
        "imagenotsupported", "modelcapabilitynotsupported", "capabilitynotsupported", "unimplemented", "notimplemented",
        "invalidjsonschema", "invalidschema", "unsupportedschema", "extrafieldsnotpermitted",
        "unexpectedparameter", "unrecognizedparameter", "unsupportedimageformat", "unsupportedimage", "unsupportedmediatype",
    ], code("unsupported_parameter")).attributed_to(Attribution::Capability),
    Rule::codes("format.code", Reason::Format, &[
        "format", "missingrequiredparameter", "invalidimageformat", "invalidimageurl", "imageparseerror",
        "invalidjson", "imagetoolarge", "invalidtoolcall", "malformedrequest", "emptyarray", "emptystring",
    ], code("invalid_image_url")),
    Rule::codes("label.no-details-code", Reason::NoErrorDetails, &[
        "noerrordetails",
    ], code("no_error_details")),
    Rule::codes("label.empty-code", Reason::EmptyResponse, &["emptyresponse"], code("empty_response")),
    Rule::codes("network.code", Reason::Timeout, &[
        "econnrefused", "enetunreach", "ehostunreach", "ehostdown", "enetdown", "eaiagain", "enotfound",
        "enetreset", "underrconnecttimeout", "eproto", "certhasexpired", "selfsignedcertinchain",
        "depthzeroselfsignedcert", "unabletoverifyleafsignature", "unabletogetissuercertlocally",
        "errtlscertaltnameinvalid", "certnotyetvalid", "connectionrefused", "eaddrnotavail", "errssl",
        "errsslwrongversionnumber", "erreproto",
    ], code("ECONNREFUSED")).attributed_to(Attribution::Network),
    Rule::codes("timeout.code", Reason::Timeout, &[
        "etimedout", "esockettimedout", "econnreset", "econnaborted", "epipe", "timeout", "timeouterror",
        "requesttimeout", "deadlineexceeded", "gatewaytimeout", "underrsocket", "underrheaderstimeout",
        "underrbodytimeout", "errstreamprematureclose", "modeltimeoutexception", "connectionerror",
        "apiconnectionerror", "apiconnectiontimeouterror", "apitimeouterror", "connectionreset",
        "networkerror", "incompletestream", "streamreaderror", "errhttp2streamerror",
        "errhttp2sessionerror", "readtimeout", "connecttimeout", "readerror", "remoteprotocolerror",
        "modelstreamerrorexception", "malformedresponse", "malformedfunctioncall", "errhttp2streamcancel",
        "errsocketclosed", "streamerror",
    ], code("ETIMEDOUT")),
    // Names of a whole class of failures: a more specific name beside them says which one it is (F-28).
    Rule::codes("rate.code", Reason::RateLimit, &[
        "resourceexhausted", "resourceexhaustederror", "ratelimit", "ratelimited", "ratelimitexceeded", "throttled",
        "throttling", "throttlingexception", "toomanyrequestsexception",
    ], code("RESOURCE_EXHAUSTED")).unless(&[
        "no capacity", "(at|over|out of|insufficient) capacity", "overloaded", "capacity (exhausted|exceeded)",
    ]),
];

/// Codes so general that any text outranks them.
#[rustfmt::skip]
pub(super) static CATCH_ALL: &[Rule] = &[
    Rule::codes("local.takeover", Reason::Local, &[
        "embeddedattemptsessiontakeovererror",
    ], code("EmbeddedAttemptSessionTakeoverError")),
    Rule::codes("rate.catch-all", Reason::RateLimit, &[
        "ratelimiterror", "toomanyrequests", "toomanyrequestserror", "quota", "quotaexceeded",
        "quotaexceedederror", "tokens", "requests",
    ], code("rate_limit_error")).at(&[(0, 401), (403, 599)]),
    Rule::codes("server.catch-all", Reason::ServerError, &[
        "servererror", "upstreamerror", "internalerror", "internal", "internalservererror", "apierror",
        "internalserverexception", "internalfailure", "unknownerror", "backenderror", "badgateway",
        "badresponsestatuscode", "upstreamfailed", "dataloss", "internalservererrorexception",
        "modelerrorexception", "badresponse", "proxyerror", "providererror", "chatgptservererror",
        "internalerroralgo", "unexpectederror", "erruntimeerror", "upstreamunavailable",
    ], code("server_error")),
    Rule::codes("timeout.catch-all", Reason::Timeout, &[
        "unavailable", "serviceunavailable", "serviceunavailableerror", "serviceunavailableexception",
        "unavailableerror", "temporarilyunavailable", "networkconnectionerror",
    ], code("UNAVAILABLE")),
    Rule::codes("auth-permanent.catch-all", Reason::AuthPermanent, &[
        "accessterminatederror",
    ], code("access_terminated_error")),
    Rule::codes("auth.catch-all", Reason::Auth, &[
        "permissionerror", "accessdeniedexception", "accessdenied", "permissiondenied",
        "permissiondeniederror", "forbidden", "forbiddenerror", "requestforbidden", "unauthorized",
    ], code("permission_error")),
    Rule::codes("model.catch-all", Reason::ModelNotFound, &[
        "notfounderror", "resourcenotfoundexception", "resourcenotfounderror",
    ], code("not_found_error")).at(&[(0, 499)]),
    Rule::codes("format.catch-all", Reason::Format, &[
        "invalidrequesterror", "invalidrequest", "badrequest", "badrequesterror", "invalidparametererror",
        "invalidparams", "unprocessableentityerror", "invalidargument", "validationexception",
        "validationerror", "invalidparameter", "failedprecondition", "requestvalidationerror",
        "unprocessableentity", "outofrange",
    ], code("invalid_request_error")).at(&[(0, 299), (400, 400), (422, 422)]).default_certainty(),
];
