// The steps of a conversion, in the order in which convert.cpp takes them.
#pragma once

#include "conventions/rules.hpp"

namespace linearmem {

// Names, kinds and bytes of what was handed over: their tensors, or with `ours` our counterparts of them.
Status check_given(const ConventionMechanism& mechanism, const std::vector<ConventionTensor>& entries, const NamedTensors& given, bool ours);
Status check_ours(const ConventionMechanism& mechanism, const std::vector<ConventionTensor>& entries, const NamedTensors& ours);  // others pass
Status check_required(const ConventionMechanism& mechanism, const NamedTensors& inputs);

// Their options, checked and all present.
Result<RunSettings> with_all_options(const ConventionMechanism& mechanism, RunSettings settings);
bool passes_through(const ConventionMechanism& mechanism, const std::string& option);  // an option of ours that may be set beside theirs

Status sizes_from_options(Exchange& exchange);

// What the shapes of exchange.given tell, and the entries meant by them.
Result<std::vector<const ConventionTensor*>> entries_meant(Exchange& exchange, const std::vector<ConventionTensor>& entries);

Status move_to_ours(Exchange& exchange, const std::vector<ConventionTensor>& entries);    // given -> ours and parameters
Status move_to_theirs(Exchange& exchange, const std::vector<ConventionTensor>& entries);  // ours -> theirs

// Our options for the same computation; scale and norms that our mechanism has no option for are applied to q and k.
Result<RunSettings> our_settings(Exchange& exchange);
Status undo_scale(Exchange& exchange);  // of q, where it was applied to it

}  // namespace linearmem
